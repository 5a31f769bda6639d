// The facts of the public http-state test cases (github.com/abarth/http-state, tests/data/parser), in a format of our
// own: the fields that a server sets, the next URL that is requested, the Cookie field that must be sent.
//
// `#` begins a case, `set` is one Set-Cookie field, `get` the next URL (by default the page that all cases request),
// `send` the Cookie field (without it no field may be sent). `⇥` is a tab, `␠` a space at an end, `{a*9}` nine times
// the letter.
enum HTTPStateFacts {
    static let cases = #"""
        # 0001
        set foo=bar
        send foo=bar
        # 0002
        set foo=bar; Expires=Fri, 07 Aug 2019 08:04:19 GMT
        send foo=bar
        # 0003
        set foo=bar; Expires=Fri, 07 Aug 2007 08:04:19 GMT
        set foo2=bar2; Expires=Fri, 07 Aug 2027 08:04:19 GMT
        send foo2=bar2
        # 0004
        set foo
        # 0005
        set foo=bar; max-age=10000;
        send foo=bar
        # 0006
        set foo=bar; max-age=0;
        # 0007
        set foo=bar; version=1;
        send foo=bar
        # 0008
        set foo=bar; version=1000;
        send foo=bar
        # 0009
        set foo=bar; customvalue=1000;
        send foo=bar
        # 0010
        set foo=bar; secure;
        # 0011
        set foo=bar; customvalue="1000 or more";
        send foo=bar
        # 0012
        set foo=bar; customvalue="no trailing semicolon"
        send foo=bar
        # 0013
        set foo=bar
        set foo=qux
        send foo=qux
        # 0014
        set foo1=bar
        set foo2=qux
        send foo1=bar; foo2=qux
        # 0015
        set a=b
        set z=y
        send a=b; z=y
        # 0016
        set z=y
        set a=b
        send z=y; a=b
        # 0017
        set z=y, a=b
        send z=y, a=b
        # 0018
        set z=y; foo=bar, a=b
        send z=y
        # 0019
        set foo=b;max-age=3600, c=d;path=/
        send foo=b
        # 0020
        set a=b
        set =
        set c=d
        send a=b; c=d
        # 0021
        set a=b
        set =x
        set c=d
        send a=b; c=d
        # 0022
        set a=b
        set x=
        set c=d
        send a=b; x=; c=d
        # 0023
        set foo
        set
        # 0024
        set foo
        set =
        # 0025
        set foo
        set ; bar
        # 0026
        set foo
        set ␠␠␠
        # 0027
        set foo
        set bar
        # 0028
        set foo
        set ⇥
        # attribute0001
        set foo=bar; Secure
        # attribute0002
        set foo=bar; seCURe
        # attribute0003
        set foo=bar; "Secure"
        send foo=bar
        # attribute0004
        set foo=bar; Secure=
        # attribute0005
        set foo=bar; Secure=aaaa
        # attribute0006
        set foo=bar; Secure qux
        send foo=bar
        # attribute0007
        set foo=bar; Secure =aaaaa
        # attribute0008
        set foo=bar; Secure= aaaaa
        # attribute0009
        set foo=bar; Secure; qux
        # attribute0010
        set foo=bar; Secure;qux
        # attribute0011
        set foo=bar; Secure    ; qux
        # attribute0012
        set foo=bar;                Secure
        # attribute0013
        set foo=bar;       Secure     ;
        # attribute0014
        set foo=bar; Path
        send foo=bar
        # attribute0015
        set foo=bar; Path=
        send foo=bar
        # attribute0016
        set foo=bar; Path=/
        send foo=bar
        # attribute0017
        set foo=bar; Path=/qux
        # attribute0018
        set foo=bar; Path    =/qux
        # attribute0019
        set foo=bar; Path=    /qux
        # attribute0020
        set foo=bar; Path=/qux      ; taz
        # attribute0021
        set foo=bar; Path=/qux; Path=/
        send foo=bar
        # attribute0022
        set foo=bar; Path=/; Path=/qux
        # attribute0023
        set foo=bar; Path=/qux; Path=/cookie-parser-result
        send foo=bar
        # attribute0024
        set foo=bar; Path=/cookie-parser-result; Path=/qux
        # attribute0025
        set foo=bar; qux; Secure
        # attribute0026
        set foo=bar; qux="aaa;bbb"; Secure
        # charset0001
        set foo=春节回家路·春运完全手册
        send foo=春节回家路·春运完全手册
        # charset0002
        set 春节回=家路·春运完全手册
        send 春节回=家路·春运完全手册
        # charset0003
        set 春节回=家路·春运; 完全手册
        send 春节回=家路·春运
        # charset0004
        set foo="春节回家路·春运完全手册"
        send foo="春节回家路·春运完全手册"
        # chromium0001
        set a=b
        send a=b
        # chromium0002
        set aBc="zzz "   ;
        send aBc="zzz "
        # chromium0003
        set aBc="zzz " ;
        send aBc="zzz "
        # chromium0004
        set aBc="zz;pp" ; ;
        send aBc="zz
        # chromium0005
        set aBc="zz ;
        send aBc="zz
        # chromium0006
        set aBc="zzz "   "ppp"  ;
        send aBc="zzz "   "ppp"
        # chromium0007
        set aBc="zzz "   "ppp" ;
        send aBc="zzz "   "ppp"
        # chromium0008
        set aBc=A"B ;
        send aBc=A"B
        # chromium0009
        set BLAHHH; path=/;
        # chromium0010
        set "BLA\"HHH"; path=/;
        # chromium0011
        set a="B
        send a="B
        # chromium0012
        set =ABC
        # chromium0013
        set ABC=;  path = /
        send ABC=
        # chromium0014
        set ␠␠A  = BC  ;foo;;;   bar
        send A=BC
        # chromium0015
        set ␠␠A=== BC  ;foo;;;   bar
        send A=== BC
        # chromium0016
        set foo="zohNumRKgI0oxyhSsV3Z7D"  ; expires=Sun, 18-Apr-2027 21:06:29 GMT ; path=/  ;␠␠
        send foo="zohNumRKgI0oxyhSsV3Z7D"
        # chromium0017
        set foo=zohNumRKgI0oxyhSsV3Z7D  ; expires=Sun, 18-Apr-2027 21:06:29 GMT ; path=/  ;␠␠
        send foo=zohNumRKgI0oxyhSsV3Z7D
        # chromium0018
        set ␠␠␠␠
        # chromium0019
        set a={a*4094}
        send a={a*4094}
        # chromium0021
        set
        # comma0001
        set foo=bar, baz=qux
        send foo=bar, baz=qux
        # comma0002
        set foo="bar, baz=qux"
        send foo="bar, baz=qux"
        # comma0003
        set foo=bar; b,az=qux
        send foo=bar
        # comma0004
        set foo=bar; baz=q,ux
        send foo=bar
        # comma0005
        set foo=bar; Max-Age=50,399
        send foo=bar
        # comma0006
        set foo=bar; Expires=Fri, 07 Aug 2019 08:04:19 GMT
        send foo=bar
        # comma0007
        set foo=bar; Expires=Fri 07 Aug 2019 08:04:19 GMT, baz=qux
        send foo=bar
        # domain0001
        set foo=bar; domain=home.example.org
        get http://home.example.org:8888/cookie-parser-result
        send foo=bar
        # domain0002
        set foo=bar; domain=home.example.org
        get http://sibling.example.org:8888/cookie-parser-result
        # domain0003
        set foo=bar; domain=.home.example.org
        get http://home.example.org:8888/cookie-parser-result
        send foo=bar
        # domain0004
        set foo=bar; domain=home.example.org
        get http://subdomain.home.example.org:8888/cookie-parser-result
        send foo=bar
        # domain0005
        set foo=bar; domain=.home.example.org
        get http://subdomain.home.example.org:8888/cookie-parser-result
        send foo=bar
        # domain0006
        set foo=bar; domain=.home.example.org
        get http://sibling.example.org:8888/cookie-parser-result
        # domain0007
        set foo=bar; domain=sibling.example.org
        get http://sibling.example.org:8888/cookie-parser-result
        # domain0008
        set foo=bar; domain=.example.org
        get http://home.example.org:8888/cookie-parser-result
        send foo=bar
        # domain0009
        set foo=bar; domain=example.org
        get http://home.example.org:8888/cookie-parser-result
        send foo=bar
        # domain0010
        set foo=bar; domain=..home.example.org
        get http://home.example.org:8888/cookie-parser-result
        # domain0011
        set foo=bar; domain=home..example.org
        get http://home.example.org:8888/cookie-parser-result
        # domain0012
        set foo=bar; domain=  .home.example.org
        get http://home.example.org:8888/cookie-parser-result
        send foo=bar
        # domain0013
        set foo=bar; domain=  .  home.example.org
        get http://home.example.org:8888/cookie-parser-result
        # domain0014
        set foo=bar; domain=home.example.org.
        get http://home.example.org:8888/cookie-parser-result
        # domain0015
        set foo=bar; domain=home.example.org..
        get http://home.example.org:8888/cookie-parser-result
        # domain0016
        set foo=bar; domain=home.example.org .
        get http://home.example.org:8888/cookie-parser-result
        # domain0017
        set foo=bar; domain=.org
        get http://home.example.org:8888/cookie-parser-result
        # domain0018
        set foo=bar; domain=.org.
        get http://home.example.org:8888/cookie-parser-result
        # domain0019
        set foo=bar; domain=home.example.org
        set foo2=bar2; domain=.home.example.org
        get http://home.example.org:8888/cookie-parser-result
        send foo=bar; foo2=bar2
        # domain0020
        set foo2=bar2; domain=.home.example.org
        set foo=bar; domain=home.example.org
        get http://home.example.org:8888/cookie-parser-result
        send foo2=bar2; foo=bar
        # domain0021
        set foo=bar; domain="home.example.org"
        get http://home.example.org:8888/cookie-parser-result
        # domain0022
        set foo=bar; domain=home.example.org
        set foo2=bar2; domain=.example.org
        get http://home.example.org:8888/cookie-parser-result
        send foo=bar; foo2=bar2
        # domain0023
        set foo2=bar2; domain=.example.org
        set foo=bar; domain=home.example.org
        get http://home.example.org:8888/cookie-parser-result
        send foo2=bar2; foo=bar
        # domain0024
        set foo=bar; domain=.example.org; domain=home.example.org
        get http://sibling.example.org:8888/cookie-parser-result
        # domain0025
        set foo=bar; domain=home.example.org; domain=.example.org
        get http://sibling.example.org:8888/cookie-parser-result
        send foo=bar
        # domain0026
        set foo=bar; domain=home.eXaMpLe.org
        get http://home.example.org:8888/cookie-parser-result
        send foo=bar
        # domain0027
        set foo=bar; domain=home.example.org:8888
        get http://home.example.org:8888/cookie-parser-result
        # domain0028
        set foo=bar; domain=subdomain.home.example.org
        get http://subdomain.home.example.org:8888/cookie-parser-result
        # domain0029
        set foo=bar
        get http://subdomain.home.example.org:8888/cookie-parser-result
        # domain0031
        set foo=bar; domain=home.example.org; domain=.example.org
        get http://sibling.example.org:8888/cookie-parser-result
        send foo=bar
        # domain0033
        set foo=bar; domain=home.example.org
        get http://hoMe.eXaMplE.org:8888/cookie-parser-result
        send foo=bar
        # domain0034
        set foo=bar; domain=home.example.org; domain=home.example.com
        get http://home.example.org:8888/cookie-parser-result
        # domain0035
        set foo=bar; domain=home.example.com; domain=home.example.org
        get http://home.example.org:8888/cookie-parser-result
        send foo=bar
        # domain0036
        set foo=bar; domain=home.example.org; domain=home.example.com; domain=home.example.org
        get http://home.example.org:8888/cookie-parser-result
        send foo=bar
        # domain0037
        set foo=bar; domain=home.example.com; domain=home.example.org; domain=home.example.com
        get http://home.example.org:8888/cookie-parser-result
        # domain0038
        set foo=bar; domain=home.example.org; domain=home.example.org
        get http://home.example.org:8888/cookie-parser-result
        send foo=bar
        # domain0039
        set foo=bar; domain=home.example.org; domain=example.org
        get http://home.example.org:8888/cookie-parser-result
        send foo=bar
        # domain0040
        set foo=bar; domain=example.org; domain=home.example.org
        get http://home.example.org:8888/cookie-parser-result
        send foo=bar
        # domain0041
        set foo=bar; domain=.sibling.example.org
        get http://sibling.example.org:8888/cookie-parser-result
        # domain0042
        set foo=bar; domain=.sibling.home.example.org
        get http://sibling.home.example.org:8888/cookie-parser-result
        # mozilla0001
        set foo=bar; max-age=-1
        # mozilla0002
        set foo=bar; max-age=0
        # mozilla0003
        set foo=bar; expires=Thu, 10 Apr 1980 16:33:12 GMT
        # mozilla0004
        set foo=bar; max-age=60
        send foo=bar
        # mozilla0005
        set foo=bar; max-age=-20
        # mozilla0006
        set foo=bar; max-age=60
        send foo=bar
        # mozilla0007
        set foo=bar; expires=Thu, 10 Apr 1980 16:33:12 GMT
        # mozilla0008
        set foo=bar; max-age=60
        set foo1=bar; max-age=60
        send foo=bar; foo1=bar
        # mozilla0009
        set foo=bar; max-age=60
        set foo1=bar; max-age=60
        set foo=differentvalue; max-age=0
        send foo1=bar
        # mozilla0010
        set foo=bar; max-age=60
        set foo1=bar; max-age=60
        set foo=differentvalue; max-age=0
        set foo2=evendifferentvalue; max-age=0
        send foo1=bar
        # mozilla0011
        set test=parser; domain=.parser.test; ;; ;=; ,,, ===,abc,=; abracadabra! max-age=20;=;;
        # mozilla0012
        set test="fubar! = foo;bar\";" parser; max-age=6
        set five; max-age=2.63,
        send test="fubar! = foo
        # mozilla0013
        set test=kill; max-age=0
        set five; max-age=0
        # mozilla0014
        set six
        # mozilla0015
        set six
        set seven
        # mozilla0016
        set six
        set seven
        set ␠=eight
        # mozilla0017
        set six
        set seven
        set ␠=eight
        set test=six
        send test=six
        # name0001
        set a=bar
        send a=bar
        # name0002
        set 1=bar
        send 1=bar
        # name0003
        set $=bar
        send $=bar
        # name0004
        set !a=bar
        send !a=bar
        # name0005
        set @a=bar
        send @a=bar
        # name0006
        set #a=bar
        send #a=bar
        # name0007
        set $a=bar
        send $a=bar
        # name0008
        set %a=bar
        send %a=bar
        # name0009
        set ^a=bar
        send ^a=bar
        # name0010
        set &a=bar
        send &a=bar
        # name0011
        set *a=bar
        send *a=bar
        # name0012
        set (a=bar
        send (a=bar
        # name0013
        set )a=bar
        send )a=bar
        # name0014
        set -a=bar
        send -a=bar
        # name0015
        set _a=bar
        send _a=bar
        # name0016
        set +=bar
        send +=bar
        # name0017
        set =a=bar
        # name0018
        set a =bar
        send a=bar
        # name0019
        set "a=bar
        send "a=bar
        # name0020
        set "a=b"=bar
        send "a=b"=bar
        # name0021
        set "a=b"=bar
        set "a=qux
        send "a=qux
        # name0022
        set ␠␠␠foo=bar
        send foo=bar
        # name0023
        set foo;bar=baz
        # name0024
        set $Version=1; foo=bar
        send $Version=1
        # name0025
        set ===a=bar
        # name0026
        set foo=bar␠␠␠␠
        send foo=bar
        # name0027
        set foo=bar    ;
        send foo=bar
        # name0028
        set =a
        # name0029
        set =
        # name0030
        set foo bar=baz
        send foo bar=baz
        # name0031
        set "foo;bar"=baz
        # name0032
        set "foo\"bar;baz"=qux
        # name0033
        set =foo=bar
        set aaa
        # optional-domain0030
        set foo=bar; domain=
        get http://home.example.org:8888/cookie-parser-result
        send foo=bar
        # optional-domain0041
        set foo=bar; domain=example.org; domain=
        get http://home.example.org:8888/cookie-parser-result
        send foo=bar
        # optional-domain0042
        set foo=bar; domain=foo.example.org; domain=
        get http://home.example.org:8888/cookie-parser-result
        # optional-domain0043
        set foo=bar; domain=foo.example.org; domain=
        get http://subdomain.home.example.org:8888/cookie-parser-result
        # ordering0001
        set key=val0;
        set key=val1; path=/cookie-parser-result
        set key=val2; path=/
        set key=val3; path=/bar
        set key=val4; domain=.example.org
        set key=val5; domain=.example.org; path=/cookie-parser-result/foo
        get /cookie-parser-result/foo/baz
        send key=val5; key=val1; key=val2; key=val4
        # path0001
        set a=b; path=/
        set x=y; path=/cookie-parser-result
        send x=y; a=b
        # path0002
        set a=b; path=/cookie-parser-result
        set x=y; path=/
        send a=b; x=y
        # path0003
        set x=y; path=/
        set a=b; path=/cookie-parser-result
        send a=b; x=y
        # path0004
        set x=y; path=/cookie-parser-result
        set a=b; path=/
        send x=y; a=b
        # path0005
        set foo=bar; path=/cookie-parser-result/foo
        # path0006
        set foo=bar
        set foo=qux; path=/cookie-parser-result/foo
        send foo=bar
        # path0007
        set foo=bar; path=/cookie-parser-result/foo
        get /cookie-parser-result/foo
        send foo=bar
        # path0008
        set foo=bar; path=/cookie-parser-result/foo
        get /cookie-parser-result/bar
        # path0009
        set foo=bar; path=/cookie-parser-result/foo/qux
        get /cookie-parser-result/foo
        # path0010
        set foo=bar; path=/cookie-parser-result/foo/qux
        get /cookie-parser-result/foo/qux
        send foo=bar
        # path0011
        set foo=bar; path=/cookie-parser-result/foo/qux
        get /cookie-parser-result/bar/qux
        # path0012
        set foo=bar; path=/cookie-parser-result/foo/qux
        get /cookie-parser-result/foo/baz
        # path0013
        set foo=bar; path=/cookie-parser-result/foo/qux/
        get /cookie-parser-result/foo/baz
        # path0014
        set foo=bar; path=/cookie-parser-result/foo/qux/
        get /cookie-parser-result/foo/qux
        # path0015
        set foo=bar; path=/cookie-parser-result/foo/qux/
        get /cookie-parser-result/foo/qux/
        send foo=bar
        # path0016
        set foo=bar; path=/cookie-parser-result/foo/
        get /cookie-parser-result/foo/qux
        send foo=bar
        # path0017
        set foo=bar; path=/cookie-parser-result/foo/
        get /cookie-parser-result/foo//qux
        send foo=bar
        # path0018
        set foo=bar; path=/cookie-parser-result/foo/
        get /cookie-parser-result/fooqux
        # path0019
        set foo=bar; path
        send foo=bar
        # path0020
        set foo=bar; path=
        send foo=bar
        # path0021
        set foo=bar; path=/
        send foo=bar
        # path0022
        set foo=bar; path= /
        send foo=bar
        # path0023
        set foo=bar; Path=/cookie-PARSER-result
        # path0024
        set foo=bar; path=/cookie-parser-result/foo/qux?
        get /cookie-parser-result/foo/qux
        # path0025
        set foo=bar; path=/cookie-parser-result/foo/qux#
        get /cookie-parser-result/foo/qux
        # path0026
        set foo=bar; path=/cookie-parser-result/foo/qux;
        get /cookie-parser-result/foo/qux
        send foo=bar
        # path0027
        set foo=bar; path="/cookie-parser-result/foo/qux;"
        get /cookie-parser-result/foo/qux
        send foo=bar
        # path0028
        set foo=bar; path=/cookie-parser-result/f%6Fo/bar
        get /cookie-parser-result/foo/bar
        # path0029
        set a=b; ⇥path⇥=⇥/cookie-parser-result⇥
        set x=y; ⇥path⇥=⇥/book⇥
        send a=b
        # path0030
        set foo=bar; path=/dog; path=
        send foo=bar
        # path0031
        set foo=bar; path=; path=/dog
        # path0032
        set foo=bar; path=/cookie-parser-result
        set foo=qux; path=/cookie-parser-result/
        get /cookie-parser-result/dog
        send foo=qux; foo=bar
        # value0001
        set foo=  bar
        send foo=bar
        # value0002
        set foo="bar"
        send foo="bar"
        # value0003
        set foo="  bar "
        send foo="  bar "
        # value0004
        set foo="bar;baz"
        send foo="bar
        # value0005
        set foo="bar=baz"
        send foo="bar=baz"
        # value0006
        set ⇥foo⇥=⇥bar⇥ ⇥;⇥ttt
        send foo=bar
        """#
}
