/// The report's style sheet: the colours and the type are those of the gateway's inspector, light and dark.
enum ReportStyle {
    static let css = """
        :root {
          color-scheme: light dark;
          --ground: #ffffff; --raised: #f5f6f8; --line: #c9ced6; --text: #1b1f24; --quiet: #535b66;
          --good: #146c2e; --bad: #a8231b; --own: #0b51b7; --shared: #1f8a70; --origin: #b4600a; --band: #747b8633;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --ground: #15181c; --raised: #1e2227; --line: #3a4048; --text: #e6e8eb; --quiet: #a9b1bb;
            --good: #7fd492; --bad: #f2a39c; --own: #6f9bf2; --shared: #4fc3a1; --origin: #e9a454; --band: #8b939e40;
          }
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.45 system-ui, sans-serif; }
        header { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 20px; padding: 8px 16px;
          background: var(--raised); border-bottom: 1px solid var(--line); }
        h1 { margin: 0; font-size: 16px; }
        h2 { margin: 0 0 8px; font-size: 18px; }
        header p { margin: 0 0 0 auto; color: var(--quiet); }
        main { padding: 16px; max-width: 1800px; margin: 0 auto; }
        section { margin: 0 0 24px; min-width: 0; }
        .plots { display: grid; grid-template-columns: minmax(0, 1fr); gap: 8px 32px; }
        @media (min-width: 1000px) { .plots { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }
        .verdict { font-size: 18px; margin: 0 0 16px; }
        .good { color: var(--good); } .bad { color: var(--bad); }
        .scroll { overflow-x: auto; }
        table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
        th { text-align: left; color: var(--quiet); font-weight: 500; font-size: 13px; }
        th, td { padding: 6px 20px 6px 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
        td.number, th.number { text-align: right; }
        .legend { display: flex; flex-wrap: wrap; gap: 2px 16px; margin: 0; padding: 0; list-style: none;
          color: var(--quiet); font-size: 13px; }
        .legend i { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin-right: 6px;
          vertical-align: -1px; }
        svg { display: block; width: 100%; height: auto; }
        svg text { fill: var(--quiet); font: 11px system-ui, sans-serif; }
        .grid { stroke: var(--line); stroke-width: 1; } .band { fill: var(--band); }
        .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
        .own { fill: var(--own); stroke: var(--own); } .shared { fill: var(--shared); stroke: var(--shared); }
        .origin { fill: var(--origin); stroke: var(--origin); }
        .line.own, .line.shared, .line.origin { fill: none; }
        i.own { background: var(--own); } i.shared { background: var(--shared); }
        i.origin { background: var(--origin); }
        summary { cursor: pointer; padding: 6px 0; }
        :focus-visible { outline: 3px solid var(--own); outline-offset: 2px; }
        """
}
