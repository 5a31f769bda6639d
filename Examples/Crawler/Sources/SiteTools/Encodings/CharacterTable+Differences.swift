// Written by Scripts/encoding-differences.py from the indexes of the WHATWG Encoding standard
// (https://encoding.spec.whatwg.org) and glibc 2.36. The characters are from the standard:
//
// Copyright © WHATWG (Apple, Google, Mozilla, Microsoft).
//
// BSD 3-Clause License
//
// Redistribution and use in source and binary forms, with or without
// modification, are permitted provided that the following conditions are met:
//
// 1. Redistributions of source code must retain the above copyright notice, this
//    list of conditions and the following disclaimer.
//
// 2. Redistributions in binary form must reproduce the above copyright notice,
//    this list of conditions and the following disclaimer in the documentation
//    and/or other materials provided with the distribution.
//
// 3. Neither the name of the copyright holder nor the names of its
//    contributors may be used to endorse or promote products derived from
//    this software without specific prior written permission.
//
// THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS"
// AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE
// IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE
// DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS BE LIABLE
// FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL
// DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR
// SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER
// CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY,
// OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE
// OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.

extension CharacterTable {
    /// The characters in which an index differs from the table of `iconv`, and those in which tables of other versions
    /// of glibc may differ.
    static func differences(of index: Index) -> [(pointer: Int, character: UInt32)] {
        let text: String =
            switch index {
            case .big5:
                """
                2082 7BB8
                2088 7C06
                2103 7CCE
                2114 7DD2
                2123 7E1D
                2148 8005
                2151 8028
                2221 83C1
                2239 84A8
                2244 840F
                2303 89A6 89A9
                2354 8D77
                2400 90FD
                2413 92B9
                2477 975C
                2498 97FF
                2605 9F16
                2673 8503
                2746 5159 515B 515D 515E
                2771 936E
                2780 7479
                2990 6D67
                3087 799B
                3259 9097
                3301 975D
                3436 701E
                3451 5B28
                4136 7201
                4138 77D7
                4141 7E87
                4182 99D6
                4206 91D4
                4220 60DE
                4230 6FB6
                4241 8F36
                4258 4FBB
                4273 71DF
                4279 9104
                4282 9DF0
                4294 83CF
                4329 5C10 79E3
                4349 5A67
                4419 8F0B
                4422 7B51
                4494 62D0
                4624 6062
                4694 75F9
                4708 6C4A
                4742 9B2E
                4748 9F17
                4815 50ED
                4828 5F0C
                4902 880F
                4922 62CE
                4982 7468
                4992 7162
                4997 7250
                5029 2027
                5038 FE51
                5050 2574
                5120 AF FFE3
                5123 2CD
                5153 FF5E
                5168 2295 2299
                5180 FF0F FF3C 2215 FE68
                5185 FFE5
                5187 FFE0 FFE1
                5287 5341
                5289 5345
                5432 2400 2401 2402 2403 2404 2405 2406 2407 2408 2409 240A 240B 240C 240D 240E 240F 2410 2411
                5450 2412 2413 2414 2415 2416 2417 2418 2419 241A 241B 241C 241D 241E 241F 2421 20AC
                10942 5EF4
                10946 65E0
                10948 7676
                10950 96B6
                10957 3003 4EDD
                19028 5029
                19035 507D
                19088 5305
                19096 5344
                19112 537F
                19162 5605
                19240 5A77
                19299 5E75
                19305 5ED0
                19326 5F58
                19355 60A4
                19398 6490
                19439 6674
                19454 675E
                19553 6C9C 6E1D
                19557 6E2F
                19611 716E
                19643 732A
                19672 745C
                19697 74E9
                19748 7809
                """
            case .gb18030:
                """
                6555 3000
                7182 FE10 FE12 FE11 FE13 FE14 FE15 FE16
                7201 FE17 FE18
                7208 FE19
                7533 1E3F
                23766 2E81 E816 E817 E818 2E84 3473 3447 2E88 2E8B 9FB4 359E 361A 360E 2E8C 2E97 396E 3918 9FB5
                23784 39CF 39DF 3A73 39D0 9FB6 9FB7 3B4E 3C6E 3CE0 2EA7 E831 9FB8 2EAA 4056 415F 2EAE 4337 2EB3
                23802 2EB6 2EB7 E83B 43B1 43AC 2EBB 43DD 44D6 4661 464C 9FB9 4723 4729 477C 478D 2ECA 4947 497A
                23820 497D 4982 4983 4985 4986 499F 499B 49B7 49B6 9FBA E855 4CA3 4C9F 4CA0 4CA1 4C77 4CA2 4D13
                23838 4D14 4D15 4D16 4D17 4D18 4D19 4DAE 9FBB
                """
            case .singleByte(.koi8U):
                """
                46 45E
                62 40E
                """
            case .singleByte(.macintosh):
                """
                70 2206
                112 F8FF
                """
            case .singleByte(.windows1255):
                """
                74 5BA
                """
            case .singleByte(.macCyrillic):
                """
                127 20AC
                """
            default: ""
            }
        return text.split(separator: "\n").flatMap { line in
            let numbers = line.split(separator: " ")
            let start = numbers.first.flatMap { Int($0) } ?? 0
            return numbers.dropFirst().enumerated().map { (start + $0, UInt32($1, radix: 16) ?? 0) }
        }
    }
}
