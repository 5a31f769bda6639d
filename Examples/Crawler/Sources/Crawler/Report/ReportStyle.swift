/// The report's style sheet: system fonts, no pictures, light and dark.
enum ReportStyle {
    static let css = """
        :root {
          --ground: #f6f5f2; --card: #fff; --ink: #1d2330; --soft: #667085; --line: #e4e2dc; --track: #eeece7;
          --page: #3b6fd4; --image: #2a9d7f; --style: #b0639f; --script: #d99a26; --font: #7a6ff0;
          --media: #d0603f; --other: #8a93a3; --bad: #cc3340; --good: #1f8a5b; --flow: #b9c9ea;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --ground: #12151b; --card: #1a1f28; --ink: #e8eaf0; --soft: #97a1b3; --line: #2a313d; --track: #252c37;
            --page: #6f9bf2; --image: #4fc3a1; --style: #d48fc5; --script: #e9b754; --font: #a29af8;
            --media: #ec8a6b; --other: #8a93a3; --bad: #f0626d; --good: #46c48a; --flow: #35476b;
          }
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--ground); color: var(--ink); line-height: 1.5;
          font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
        header, main, footer { max-width: 1040px; margin: 0 auto; padding: 0 24px; }
        header { padding-top: 48px; padding-bottom: 8px; }
        .eyebrow { margin: 0; color: var(--soft); font-size: 12px; letter-spacing: .12em; text-transform: uppercase; }
        h1 { margin: 2px 0 4px; font-size: 34px; line-height: 1.15; letter-spacing: -.02em; overflow-wrap: anywhere; }
        .sub { margin: 0; color: var(--soft); overflow-wrap: anywhere; }
        h2 { margin: 0 0 14px; font-size: 17px; letter-spacing: -.01em; }
        h3 { margin: 22px 0 8px; font-size: 13px; color: var(--soft); font-weight: 600; }
        section { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 20px 22px; margin: 16px 0; }
        .columns { display: grid; grid-template-columns: 1fr 1fr; gap: 16px; align-items: start; margin: 16px 0; }
        .columns section { margin: 0; min-width: 0; height: 100%; }
        .verdict { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: baseline; border-left: 5px solid var(--soft); }
        .verdict strong { font-size: 18px; }
        .verdict span { color: var(--soft); }
        .verdict.good { border-left-color: var(--good); } .verdict.good strong { color: var(--good); }
        .verdict.bad { border-left-color: var(--bad); } .verdict.bad strong { color: var(--bad); }
        .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(130px, 1fr)); padding: 6px 0; }
        .tile { padding: 12px 22px; border-left: 1px solid var(--line); margin-left: -1px; }
        .tile b { display: block; font-size: 24px; letter-spacing: -.02em; font-variant-numeric: tabular-nums; white-space: nowrap; }
        .tile span { color: var(--soft); font-size: 13px; }
        .tile.warn b { color: var(--bad); }
        .legend { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: -6px 0 12px; color: var(--soft); font-size: 13px; }
        .legend i { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-right: 6px; }
        .scroll { overflow-x: auto; }
        .timeline { width: 100%; min-width: 640px; display: block; }
        .label { fill: var(--soft); font-size: 10.5px; } .tick { stroke: var(--line); } .flow { fill: var(--flow); }
        .bar { display: grid; grid-template-columns: 1fr auto; gap: 0 12px; margin-bottom: 11px; font-size: 14px; }
        .bar > span:first-child { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .bar .detail { color: var(--soft); font-variant-numeric: tabular-nums; white-space: nowrap; }
        .track { grid-column: 1 / -1; height: 6px; border-radius: 3px; background: var(--track); overflow: hidden; }
        .track div { height: 100%; border-radius: 3px; }
        table { width: 100%; border-collapse: collapse; font-size: 14px; }
        th { text-align: left; color: var(--soft); font-weight: 500; font-size: 13px; }
        th, td { padding: 7px 12px 7px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
        tr:last-child td { border-bottom: 0; }
        td:first-child { white-space: nowrap; width: 1%; }
        .url { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 12.5px; overflow-wrap: anywhere; }
        .referrers { margin: 4px 0 0; padding: 0; list-style: none; color: var(--soft); }
        .referrers li::before { content: "from "; font-size: 12.5px; } .referrers em { font-size: 12.5px; }
        summary { cursor: pointer; padding: 10px 0 2px; color: var(--soft); } summary:hover { color: var(--ink); }
        .tag { display: inline-block; padding: 0 8px; border-radius: 9px; font-size: 12.5px; }
        .tag.bad { color: var(--bad); border: 1px solid currentColor; }
        .count { color: var(--soft); font-weight: 400; }
        .error { margin: 2px 0; color: var(--soft); }
        .calm { margin: 0; color: var(--soft); }
        .plain { margin: 0; padding: 0; list-style: none; } .plain b { font-variant-numeric: tabular-nums; }
        dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)); gap: 12px; margin: 0; }
        dt { color: var(--soft); font-size: 13px; } dd { margin: 0; overflow-wrap: anywhere; }
        footer { padding-top: 12px; padding-bottom: 48px; color: var(--soft); font-size: 13px; }
        .c-page { background: var(--page); fill: var(--page); } .c-image { background: var(--image); fill: var(--image); }
        .c-style { background: var(--style); fill: var(--style); } .c-script { background: var(--script); fill: var(--script); }
        .c-font { background: var(--font); fill: var(--font); } .c-media { background: var(--media); fill: var(--media); }
        .c-other { background: var(--other); fill: var(--other); } .c-bad { background: var(--bad); fill: var(--bad); }
        @media (max-width: 720px) { .columns { grid-template-columns: 1fr; } header { padding-top: 28px; } h1 { font-size: 27px; } }
        @media print { body { background: #fff; } section { break-inside: avoid; } }
        """
}
