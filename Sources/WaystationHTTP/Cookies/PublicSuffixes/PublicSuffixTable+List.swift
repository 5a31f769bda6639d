// This Source Code Form is subject to the terms of the Mozilla Public License, v. 2.0. If a copy of the MPL was not
// distributed with this file, You can obtain one at https://mozilla.org/MPL/2.0/.
//
// Written by Scripts/public-suffixes.py from the Public Suffix List (https://publicsuffix.org),
// version 2026-10-22_08-36-41_UTC.

extension PublicSuffixTable {
    /// The rules of the Public Suffix List for names of two labels and more.
    ///
    /// A line has a parent name, whose labels stand in reverse order, and then the first labels of rules below this name,
    /// sorted: `uk ac co` has the rules `ac.uk` and `co.uk`. `*` stands for every label, and `!` begins an exception. A
    /// parent with many rules has several lines. The lines are sorted by their bytes, and all names are in lower case and
    /// in their `xn--` form.
    static let list: StaticString = """
        ac com drr edu feedback forms gov mil net org sch
        academy official
        ae ac co gov mil net org sch
        aero accident-investigation accident-prevention aerobatic aeroclub aerodrome agents air-surveillance
        aero air-traffic-control aircraft airline airport airtraffic ambulance association author ballooning broker caa
        aero cargo catering certification championship charter civilaviation club conference consultant consulting
        aero control council crew design dgca educator emergency engine engineer entertainment equipment exchange
        aero express federation flight freight fuel gliding government groundhandling group hanggliding homebuilt
        aero insurance journal journalist leasing logistics magazine maintenance marketplace media microlight modelling
        aero navigation parachuting paragliding passenger-association pilot press production recreation repbody res
        aero research rotorcraft safety scientist services show skydiving software student taxi trader trading trainer
        aero union workinggroup works
        af com edu gov net org
        ag co com net nom obj org
        ai com framer kiloapps net off org uwu
        al com edu gov mil net org
        am co com commune net org radio
        ao co ed edu gov gv it og org pb
        app aiven base44 botdash brave claude clerk clerkstage cloudflare codepen convex corespeed csb e2b easypanel
        app edgecompute encr expo flutterflow framer gadget github glideos hackclub hasura leapcell loginline lovable
        app luyani magicpatterns medusajs messerli miren mocha netlify ngrok ngrok-free noop nyat on-fleek
        app ondigitalocean onhercules pplx puter replit retool rocketpreview shiptoday spawnbase sprites streamlit
        app telebit typedream vercel wal wasmer web windsurf wnext zeabur
        app.beget *
        app.brave.s *
        app.csb preview
        app.developer *
        app.encr frontend
        app.evervault relay
        app.expo on staging
        app.expo.staging on
        app.hosted *
        app.northflank *
        app.railway up
        app.replit id
        app.run *
        app.run.mtls *
        app.snowflake *
        app.snowflake.privatelink *
        app.upsun *
        app.zerops *
        apple int
        apple.int.cloud *
        apple.int.cloud.r *
        apple.int.cloud.r.ap-north-1 *
        apple.int.cloud.r.ap-south-1 *
        apple.int.cloud.r.ap-south-2 *
        apple.int.cloud.r.eu-central-1 *
        apple.int.cloud.r.eu-north-1 *
        apple.int.cloud.r.us-central-1 *
        apple.int.cloud.r.us-central-2 *
        apple.int.cloud.r.us-east-1 *
        apple.int.cloud.r.us-east-2 *
        apple.int.cloud.r.us-west-1 *
        apple.int.cloud.r.us-west-2 *
        apple.int.cloud.r.us-west-3 *
        ar bet com coop edu gob gov int mil musica mutual net org seg senasa tur
        arpa e164 home in-addr ip6 iris uri urn
        as gov
        asia cloudns daemon dix
        at 123webseite 12hp 2ix 4 4lima ac co dnshome futurehosting futuremailing gv lima-city my myspreadshop or priv
        at.ac sth
        at.funkfeuer wien
        at.futurecms *
        at.futurecms.ex *
        at.futurecms.in *
        at.ortsinfo.ex *
        at.ortsinfo.kunden *
        au act asn com conf edu gov id net nsw nt org oz qld sa tas vic wa
        au.com myspreadshop
        au.com.cloudlets mel
        au.edu act catholic nsw nt qld sa tas vic wa
        au.gov qld sa tas vic wa
        aw com
        aws.on.af-south-1 lambda-url transfer-webapp
        aws.on.af-south-1.airflow *
        aws.on.ap-east-1 lambda-url transfer-webapp
        aws.on.ap-east-1.airflow *
        aws.on.ap-east-2 transfer-webapp
        aws.on.ap-northeast-1 lambda-url transfer-webapp
        aws.on.ap-northeast-1.airflow *
        aws.on.ap-northeast-2 lambda-url transfer-webapp
        aws.on.ap-northeast-2.airflow *
        aws.on.ap-northeast-3 lambda-url transfer-webapp
        aws.on.ap-northeast-3.airflow *
        aws.on.ap-south-1 lambda-url transfer-webapp
        aws.on.ap-south-1.airflow *
        aws.on.ap-south-2 transfer-webapp
        aws.on.ap-south-2.airflow *
        aws.on.ap-southeast-1 lambda-url transfer-webapp
        aws.on.ap-southeast-1.airflow *
        aws.on.ap-southeast-2 lambda-url transfer-webapp
        aws.on.ap-southeast-2.airflow *
        aws.on.ap-southeast-3 lambda-url transfer-webapp
        aws.on.ap-southeast-3.airflow *
        aws.on.ap-southeast-4 transfer-webapp
        aws.on.ap-southeast-4.airflow *
        aws.on.ap-southeast-5 transfer-webapp
        aws.on.ap-southeast-5.airflow *
        aws.on.ap-southeast-6 transfer-webapp
        aws.on.ap-southeast-7 transfer-webapp
        aws.on.ap-southeast-7.airflow *
        aws.on.ca-central-1 lambda-url transfer-webapp
        aws.on.ca-central-1.airflow *
        aws.on.ca-west-1 transfer-webapp
        aws.on.ca-west-1.airflow *
        aws.on.eu-central-1 lambda-url transfer-webapp
        aws.on.eu-central-1.airflow *
        aws.on.eu-central-2 transfer-webapp
        aws.on.eu-central-2.airflow *
        aws.on.eu-north-1 lambda-url transfer-webapp
        aws.on.eu-north-1.airflow *
        aws.on.eu-south-1 lambda-url transfer-webapp
        aws.on.eu-south-1.airflow *
        aws.on.eu-south-2 transfer-webapp
        aws.on.eu-south-2.airflow *
        aws.on.eu-west-1 lambda-url transfer-webapp
        aws.on.eu-west-1.airflow *
        aws.on.eu-west-2 lambda-url transfer-webapp
        aws.on.eu-west-2.airflow *
        aws.on.eu-west-3 lambda-url transfer-webapp
        aws.on.eu-west-3.airflow *
        aws.on.il-central-1 transfer-webapp
        aws.on.il-central-1.airflow *
        aws.on.me-central-1 transfer-webapp
        aws.on.me-central-1.airflow *
        aws.on.me-south-1 lambda-url transfer-webapp
        aws.on.me-south-1.airflow *
        aws.on.mx-central-1 transfer-webapp
        aws.on.sa-east-1 lambda-url transfer-webapp
        aws.on.sa-east-1.airflow *
        aws.on.us-east-1 lambda-url transfer-webapp
        aws.on.us-east-1.airflow *
        aws.on.us-east-2 lambda-url transfer-webapp
        aws.on.us-east-2.airflow *
        aws.on.us-gov-east-1 transfer-webapp transfer-webapp-fips
        aws.on.us-gov-west-1 transfer-webapp transfer-webapp-fips
        aws.on.us-west-1 lambda-url transfer-webapp
        aws.on.us-west-1.airflow *
        aws.on.us-west-2 lambda-url transfer-webapp
        aws.on.us-west-2.airflow *
        aws.repost.private *
        aws.sagemaker.af-south-1 notebook studio
        aws.sagemaker.ap-east-1 notebook studio
        aws.sagemaker.ap-northeast-1 labeling notebook studio
        aws.sagemaker.ap-northeast-2 labeling notebook studio
        aws.sagemaker.ap-northeast-3 notebook studio
        aws.sagemaker.ap-south-1 labeling notebook studio
        aws.sagemaker.ap-south-2 notebook
        aws.sagemaker.ap-southeast-1 labeling notebook studio
        aws.sagemaker.ap-southeast-2 labeling notebook studio
        aws.sagemaker.ap-southeast-3 notebook studio
        aws.sagemaker.ap-southeast-4 notebook
        aws.sagemaker.ca-central-1 labeling notebook notebook-fips studio
        aws.sagemaker.ca-west-1 notebook notebook-fips
        aws.sagemaker.eu-central-1 labeling notebook studio
        aws.sagemaker.eu-central-2 notebook studio
        aws.sagemaker.eu-north-1 notebook studio
        aws.sagemaker.eu-south-1 notebook studio
        aws.sagemaker.eu-south-2 notebook studio
        aws.sagemaker.eu-west-1 labeling notebook studio
        aws.sagemaker.eu-west-2 labeling notebook studio
        aws.sagemaker.eu-west-3 notebook studio
        aws.sagemaker.experiments *
        aws.sagemaker.il-central-1 notebook studio
        aws.sagemaker.me-central-1 notebook studio
        aws.sagemaker.me-south-1 notebook studio
        aws.sagemaker.sa-east-1 notebook studio
        aws.sagemaker.us-east-1 labeling notebook notebook-fips studio
        aws.sagemaker.us-east-2 labeling notebook notebook-fips studio
        aws.sagemaker.us-gov-east-1 notebook notebook-fips studio studio-fips
        aws.sagemaker.us-gov-west-1 notebook notebook-fips studio studio-fips
        aws.sagemaker.us-west-1 notebook notebook-fips studio
        aws.sagemaker.us-west-2 labeling notebook notebook-fips studio
        az biz co com edu gov info int mil name net org pp pro
        ba com edu gov mil net org rs
        ba.brendly shop
        bar resolve
        basketball aus nz
        bb biz co com edu gov info net org store tv
        bd ac ai co com edu gov id info it mil net org sch tv
        be 123website ac cloudns my myspreadshop webhosting
        be.interhostsolutions cloud
        be.kuleuven ezproxy
        be.transurl *
        be.webhosting site
        berlin ddns
        bf gov
        bg 0 1 2 3 4 5 6 7 8 9 a b barsy c d e f g h i j k l m n o p q r s t u v w x y z
        bh com edu gov net org
        bi co com edu or org
        biz activetrail cloud-ip cloudns dscloud dyndns for-better for-more for-some for-the jozi mmafan myftp no-ip orx
        biz selfip webhop
        bj africa agro architectes assur avocats co com eco econo edu info loisirs money net org ote restaurant resto
        bj tourism univ
        bm com edu gov net org
        bn co com edu gov net org
        bo academia agro arte blog bolivia ciencia com cooperativa democracia deporte ecologia economia edu empresa gob
        bo ia indigena industria info int medicina mil movimiento musica natural net nombre noticias org patria
        bo plurinacional politica profesional pueblo revista salud tecnologia tksat transporte tv web wiki
        br 9guacu abc adm adv agr aju am anani aparecida api app arq art ato b barueri belem bet bhz bib bio blog bmd
        br boavista bsb campinagrande campinas caxias cim cng cnt com contagem coop coz cri cuiaba curitiba def des det
        br dev ecn eco edu emp enf eng esp etc eti far feira flog floripa fm fnd fortal fot foz fst g12 geo ggf goiania
        br gov gru ia imb ind inf jab jampa jdf joinville jor jus leg leilao lel log londrina macapa maceio manaus
        br maringa mat med mil morena mp mus natal net niteroi not ntr odo ong org osasco palmas poa ppg pro psc psi pvh
        br qsl radio rec recife rep ribeirao rio riobranco riopreto salvador sampa santamaria santoandre saobernardo
        br saogonca seg sjc slg slz social sorocaba srv taxi tc tche tec teo the tmp trd tur tv udi vet vix vlog wiki
        br xyz zlg
        br.com simplesite
        br.gov ac al am ap ba ce df es go ma mg ms mt pa pb pe pi pr rj rn ro rr rs sc se sp to
        br.leg ac al am ap ba ce df es go ma mg ms mt pa pb pe pi pr rj rn ro rr rs sc se sp to
        br.nom *
        bs com edu gov net org we
        bt com edu gov net org
        build shiptoday v0 windsurf
        builders cloudsite
        business co
        bw ac co gov net org
        by com gov mediatech mil of
        bz co com edu gov gsj mydns net org za
        ca ab barsy bc box co gc mb myspreadshop nb nf nl no-ip ns nt nu on onid pe qc sk yk
        ca.awdev *
        camp.emf at
        casa.nabu ui
        case sav
        cc ccwu cleverapps cloud-ip cloudns csx ec eu fantasyleague ftpaccess game-server gu myphotos scrapping sryze
        cc twmail uk us
        cc.spawn instances
        cd cc gov
        ch 123website 12hp 2ix 4lima cloudns dnsking gotdns lima-city linkyard-cloud myspreadshop square7
        ch.cloudscale cust
        ch.cloudscale.lpg objects
        ch.cloudscale.rma objects
        ch.firenet *
        ch.firenet.svc *
        ch.flow appengine
        ch.flow.ae alp1
        ch.objectstorage lpg rma
        ci ac asso co com ed edu go gouv int net or org us xn--aroport-bya
        ck !www *
        cl cloudns co gob gov mil
        cloud antagonist convex diadem dnshome elementor emergent hstgr jele jote jotelulu keliweb kuleuven laravel
        cloud linkyard matlab observablehq online-server oxa primetel ravendb servebolt trafficplex unison-services
        cloud urown vapor voorloper zap
        cloud.axarnet es-1
        cloud.begetcdn *
        cloud.convex eu-west-1 us-east-1
        cloud.encoway eu
        cloud.jelastic vip
        cloud.jenv-aruba it1
        cloud.jenv-aruba.aruba.eur it1
        cloud.k2 elastic s3 website
        cloud.k2.ru-msk lb s3 website
        cloud.k2.ru-spb lb s3 website
        cloud.keliweb cs
        cloud.magentosite *
        cloud.on-rancher *
        cloud.onstackit runs
        cloud.oxa tn uk
        cloud.primetel uk
        cloud.reclaim ca uk us
        cloud.scw k8s scalebook smartlabeling
        cloud.scw.baremetal fr-par-1 fr-par-2 nl-ams-1
        cloud.scw.fr-par cockpit ddl dtwh fnc ifr k8s kafk mgdb rdb s3 s3-website scbl whm
        cloud.scw.fr-par.fnc functions
        cloud.scw.fr-par.k8s nodes
        cloud.scw.instances priv pub
        cloud.scw.nl-ams cockpit ddl dtwh ifr k8s kafk mgdb rdb s3 s3-website scbl whm
        cloud.scw.nl-ams.k8s nodes
        cloud.scw.pl-waw cockpit ddl dtwh ifr k8s kafk mgdb rdb s3 s3-website scbl
        cloud.scw.pl-waw.k8s nodes
        cloud.statics *
        cloud.trendhosting ch de
        club barsy cloudns jele
        cm co com gov net
        cn ac ah bj canva-apps canva-code com cq edu fj gd gov gs gx gz ha hb he hi hk hl hn jl js jx khsj ln mil mo
        cn myqnapcloud net nm nx org qh sc sd sh sn sx tj tw xj xn--55qx5d xn--io0a7i xn--od0alg xz yn zj
        cn.canvasite my
        cn.com.amazonaws.airflow.cn-north-1 *
        cn.com.amazonaws.airflow.cn-northwest-1 *
        cn.com.amazonaws.cn-north-1 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        cn.com.amazonaws.cn-north-1 s3-deprecated s3-object-lambda s3-website
        cn.com.amazonaws.cn-north-1.dualstack s3 s3-accesspoint s3-website
        cn.com.amazonaws.cn-north-1.rds *
        cn.com.amazonaws.cn-northwest-1 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        cn.com.amazonaws.cn-northwest-1 s3-object-lambda s3-website
        cn.com.amazonaws.cn-northwest-1.dualstack s3 s3-accesspoint
        cn.com.amazonaws.cn-northwest-1.rds *
        cn.com.amazonaws.compute *
        cn.com.amazonaws.eb cn-north-1 cn-northwest-1
        cn.com.amazonaws.elb *
        cn.com.amazonwebservices.on.cn-north-1 transfer-webapp
        cn.com.amazonwebservices.on.cn-north-1.airflow *
        cn.com.amazonwebservices.on.cn-northwest-1 transfer-webapp
        cn.com.amazonwebservices.on.cn-northwest-1.airflow *
        cn.com.sagemaker.cn-north-1 notebook studio
        cn.com.sagemaker.cn-northwest-1 notebook studio
        cn.quickconnect direct
        cn.sh as
        co carrd com crd edu firewalledreplit gov hidns leadpages lpages mil mypi net nom org repl supabase umso
        co.firewalledreplit id
        co.otap *
        co.rdpa.clusters *
        co.rdpa.srvrless *
        co.repl id
        co.supabase realtime storage
        co.xmit *
        codes.owo *
        com 180r 1cooldns 1kapp 3utilities 4u a2hosted abrdns adobeaemcloud africa alibabacloudcs amazonlightsail
        com amplifyapp appchizi applinzi apps-1and1 appspacehosted appspaceusercontent appspot atmeta authgear-staging
        com authgearapps awsapps awsglobalaccelerator balena-devices barsycenter barsyonline base44-sandbox blogdns
        com blogspot blogsyte boutir bplaced br builtwithdark bumbleshrimp cafjs canva-apps canva-hosted-embed canvacode
        com cdn77-storage cechire cf-ipfs ciscofreak claudeusercontent cloudflare-ipfs cn co codespot cprapid cpserver
        com damnserver dattolocal dattorelay dattoweb ddnsfree ddnsgeek ddnsguru ddnsking de deployagent deus-canvas
        com discordsays discordsez ditchyourip dnsabr dnsalias dnsdojo dnsiskinky doesntexist dojin dontexist doomdns
        com dopaas drayddns dreamhosters drive-platform dsmynas durumis dyn-o-saur dynalias dyndns-at-home
        com dyndns-at-work dyndns-blog dyndns-free dyndns-home dyndns-ip dyndns-mail dyndns-office dyndns-pics
        com dyndns-remote dyndns-server dyndns-web dyndns-wiki dyndns-work dynns dynuddns dynuhosting elasticbeanstalk
        com encoreapi est-a-la-maison est-a-la-masion est-le-patron est-mon-blogueur eu eu1-plenit familyds fastly-edge
        com fastly-terrarium fastvps-server firebaseapp firewall-gateway fldrv forgeblocks framercanvas freebox-os
        com freeboxos freemyip from-ak from-al from-ar from-ca from-ct from-dc from-de from-fl from-ga from-hi from-ia
        com from-id from-il from-in from-ks from-ky from-ma from-md from-mi from-mn from-mo from-ms from-mt from-nc
        com from-nd from-ne from-nh from-nj from-nm from-nv from-oh from-ok from-or from-pa from-pr from-ri from-sc
        com from-sd from-tn from-tx from-ut from-va from-vt from-wa from-wi from-wv from-wy geekgalaxy gentapps
        com gentlentapis getmyip giize githubusercontent gleeze googleapis googlecode gotdns gotpantheon gr
        com grayjayleagues hatenablog hatenadiary health-carereform hercules-app hercules-dev herokuapp hk hobby-site
        com homelinux homesecuritymac homesecuritypc homeunix hosted-by-files hostedpi hotelwithflight iamallama ip-ddns
        com is-a-anarchist is-a-blogger is-a-bookkeeper is-a-bulls-fan is-a-caterer is-a-chef is-a-conservative is-a-cpa
        com is-a-cubicle-slave is-a-democrat is-a-designer is-a-doctor is-a-financialadvisor is-a-geek is-a-green
        com is-a-guru is-a-hard-worker is-a-hunter is-a-landscaper is-a-lawyer is-a-liberal is-a-libertarian is-a-llama
        com is-a-musician is-a-nascarfan is-a-nurse is-a-painter is-a-personaltrainer is-a-photographer is-a-player
        com is-a-republican is-a-rockstar is-a-socialist is-a-student is-a-teacher is-a-techie is-a-therapist
        com is-an-accountant is-an-actor is-an-actress is-an-anarchist is-an-artist is-an-engineer is-an-entertainer
        com is-certified is-gone is-into-anime is-into-cars is-into-cartoons is-into-games is-leet is-not-certified
        com is-slick is-uberleet is-with-theband isa-geek isa-hockeynut issmarterthanyou it jdevcloud jpn kasserver
        com kozow la1-plenit ladesk likes-pie likescandy live-website localtonet logoip loseyourip lovableproject
        com lpusercontent magicpatternsapp messwithdns meteorapp mex miniserver mochausercontent modelscape
        com mwcloudnonprod myactivedirectory myasustor mycloudnas mydatto mydbserver mydobiss myiphost mynascloud
        com myqnapcloud mysecuritycamera myshopblocks myshopify myspreadshop mytabit mytuleap myvnc neat-url net-freaks
        com nfshost on-aptible on-forge on-vapor onrender onthewifi ooguy operaunite orsites outsystemscloud ownprovider
        com pagespeedmobilizer pgfog pivohosting pixolino playstation-cloud pleskns point2this polyspace postman-echo
        com pythonanywhere qa2 qbuser qualifioapp quicksytes rackmaze readthedocs-hosted remotewd reservd rhcloud
        com rice-labs routingthecloud ru sa sakuratan sakuraweb same-app same-preview saves-the-whales scrysec
        com securitytactics selfip sells-for-less sells-for-u servebbs servebeer servecounterstrike serveexchange
        com serveftp servegame servehalflife servehttp servehumour serveirc servemp3 servep2p servepics servequake
        com servesarcasm shopitsite siiites simple-url simplesite sinaapp smushcdn space-to-rent stackhero-network
        com strapiapp streak-link streaklinks streakusercontent streamlitapp stufftoread subsc-pay taveusercontent
        com teaches-yoga temp-dns theworkpc thingdustdata townnews-staging try-snowplow trycloudflare tuleap-partners uk
        com unusualperson upsunapp us us1-plenit vipsinaapp vivenushop w-corp-staticblitz w-credentialless-staticblitz
        com w-staticblitz wafflecell webadorsite webspace-host wiredbladehosting withgoogle withyoutube wixsite
        com wixstudio woltlab-demo workisboring wpdevcloud wpenginepowered wphostedmail wpmucdn writesthisblog x0
        com xtooldevice yolasite za
        com.0emm *
        com.adobeaemcloud.dev *
        com.aivencloud *
        com.amazonaws s3 s3-1 s3-ap-east-1 s3-ap-northeast-1 s3-ap-northeast-2 s3-ap-northeast-3 s3-ap-south-1
        com.amazonaws s3-ap-southeast-1 s3-ap-southeast-2 s3-ca-central-1 s3-eu-central-1 s3-eu-north-1 s3-eu-west-1
        com.amazonaws s3-eu-west-2 s3-eu-west-3 s3-external-1 s3-fips-us-gov-east-1 s3-fips-us-gov-west-1 s3-me-south-1
        com.amazonaws s3-sa-east-1 s3-us-east-2 s3-us-gov-east-1 s3-us-gov-west-1 s3-us-west-1 s3-us-west-2
        com.amazonaws s3-website-ap-northeast-1 s3-website-ap-southeast-1 s3-website-ap-southeast-2 s3-website-eu-west-1
        com.amazonaws s3-website-sa-east-1 s3-website-us-east-1 s3-website-us-gov-west-1 s3-website-us-west-1
        com.amazonaws s3-website-us-west-2 us-east-1
        com.amazonaws.af-south-1 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        com.amazonaws.af-south-1 s3-object-lambda s3-website
        com.amazonaws.af-south-1.aws-cloud9 webview-assets
        com.amazonaws.af-south-1.cloud9 vfs webview-assets
        com.amazonaws.af-south-1.dualstack s3 s3-accesspoint s3-website
        com.amazonaws.airflow.af-south-1 *
        com.amazonaws.airflow.ap-east-1 *
        com.amazonaws.airflow.ap-northeast-1 *
        com.amazonaws.airflow.ap-northeast-2 *
        com.amazonaws.airflow.ap-northeast-3 *
        com.amazonaws.airflow.ap-south-1 *
        com.amazonaws.airflow.ap-south-2 *
        com.amazonaws.airflow.ap-southeast-1 *
        com.amazonaws.airflow.ap-southeast-2 *
        com.amazonaws.airflow.ap-southeast-3 *
        com.amazonaws.airflow.ap-southeast-4 *
        com.amazonaws.airflow.ap-southeast-5 *
        com.amazonaws.airflow.ap-southeast-7 *
        com.amazonaws.airflow.ca-central-1 *
        com.amazonaws.airflow.ca-west-1 *
        com.amazonaws.airflow.eu-central-1 *
        com.amazonaws.airflow.eu-central-2 *
        com.amazonaws.airflow.eu-north-1 *
        com.amazonaws.airflow.eu-south-1 *
        com.amazonaws.airflow.eu-south-2 *
        com.amazonaws.airflow.eu-west-1 *
        com.amazonaws.airflow.eu-west-2 *
        com.amazonaws.airflow.eu-west-3 *
        com.amazonaws.airflow.il-central-1 *
        com.amazonaws.airflow.me-central-1 *
        com.amazonaws.airflow.me-south-1 *
        com.amazonaws.airflow.sa-east-1 *
        com.amazonaws.airflow.us-east-1 *
        com.amazonaws.airflow.us-east-2 *
        com.amazonaws.airflow.us-west-1 *
        com.amazonaws.airflow.us-west-2 *
        com.amazonaws.ap-east-1 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        com.amazonaws.ap-east-1 s3-object-lambda s3-website
        com.amazonaws.ap-east-1.aws-cloud9 webview-assets
        com.amazonaws.ap-east-1.cloud9 vfs webview-assets
        com.amazonaws.ap-east-1.dualstack s3 s3-accesspoint
        com.amazonaws.ap-northeast-1 analytics-gateway emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3
        com.amazonaws.ap-northeast-1 s3-accesspoint s3-object-lambda s3-website
        com.amazonaws.ap-northeast-1.aws-cloud9 webview-assets
        com.amazonaws.ap-northeast-1.bedrock-agentcore consent-portal
        com.amazonaws.ap-northeast-1.cloud9 vfs webview-assets
        com.amazonaws.ap-northeast-1.dualstack s3 s3-accesspoint s3-website
        com.amazonaws.ap-northeast-2 analytics-gateway emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3
        com.amazonaws.ap-northeast-2 s3-accesspoint s3-object-lambda s3-website
        com.amazonaws.ap-northeast-2.aws-cloud9 webview-assets
        com.amazonaws.ap-northeast-2.bedrock-agentcore consent-portal
        com.amazonaws.ap-northeast-2.cloud9 vfs webview-assets
        com.amazonaws.ap-northeast-2.dualstack s3 s3-accesspoint s3-website
        com.amazonaws.ap-northeast-3 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        com.amazonaws.ap-northeast-3 s3-object-lambda s3-website
        com.amazonaws.ap-northeast-3.aws-cloud9 webview-assets
        com.amazonaws.ap-northeast-3.cloud9 vfs webview-assets
        com.amazonaws.ap-northeast-3.dualstack s3 s3-accesspoint s3-website
        com.amazonaws.ap-south-1 analytics-gateway emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3
        com.amazonaws.ap-south-1 s3-accesspoint s3-object-lambda s3-website
        com.amazonaws.ap-south-1.aws-cloud9 webview-assets
        com.amazonaws.ap-south-1.bedrock-agentcore consent-portal
        com.amazonaws.ap-south-1.cloud9 vfs webview-assets
        com.amazonaws.ap-south-1.dualstack s3 s3-accesspoint s3-website
        com.amazonaws.ap-south-2 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        com.amazonaws.ap-south-2 s3-object-lambda s3-website
        com.amazonaws.ap-south-2.bedrock-agentcore consent-portal
        com.amazonaws.ap-south-2.dualstack s3 s3-accesspoint s3-website
        com.amazonaws.ap-southeast-1 analytics-gateway emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3
        com.amazonaws.ap-southeast-1 s3-accesspoint s3-object-lambda s3-website
        com.amazonaws.ap-southeast-1.aws-cloud9 webview-assets
        com.amazonaws.ap-southeast-1.bedrock-agentcore consent-portal
        com.amazonaws.ap-southeast-1.cloud9 vfs webview-assets
        com.amazonaws.ap-southeast-1.dualstack s3 s3-accesspoint s3-website
        com.amazonaws.ap-southeast-2 analytics-gateway emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3
        com.amazonaws.ap-southeast-2 s3-accesspoint s3-object-lambda s3-website
        com.amazonaws.ap-southeast-2.aws-cloud9 webview-assets
        com.amazonaws.ap-southeast-2.bedrock-agentcore consent-portal
        com.amazonaws.ap-southeast-2.cloud9 vfs webview-assets
        com.amazonaws.ap-southeast-2.dualstack s3 s3-accesspoint s3-website
        com.amazonaws.ap-southeast-3 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        com.amazonaws.ap-southeast-3 s3-object-lambda s3-website
        com.amazonaws.ap-southeast-3.dualstack s3 s3-accesspoint s3-website
        com.amazonaws.ap-southeast-4 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        com.amazonaws.ap-southeast-4 s3-object-lambda s3-website
        com.amazonaws.ap-southeast-4.dualstack s3 s3-accesspoint s3-website
        com.amazonaws.ap-southeast-5 execute-api s3 s3-accesspoint s3-deprecated s3-object-lambda s3-website
        com.amazonaws.ap-southeast-5.bedrock-agentcore consent-portal
        com.amazonaws.ap-southeast-5.dualstack s3 s3-accesspoint s3-website
        com.amazonaws.ap-southeast-7.bedrock-agentcore consent-portal
        com.amazonaws.ca-central-1 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        com.amazonaws.ca-central-1 s3-accesspoint-fips s3-fips s3-object-lambda s3-website
        com.amazonaws.ca-central-1.aws-cloud9 webview-assets
        com.amazonaws.ca-central-1.bedrock-agentcore consent-portal
        com.amazonaws.ca-central-1.cloud9 vfs webview-assets
        com.amazonaws.ca-central-1.dualstack s3 s3-accesspoint s3-accesspoint-fips s3-fips s3-website
        com.amazonaws.ca-west-1 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        com.amazonaws.ca-west-1 s3-accesspoint-fips s3-fips s3-object-lambda s3-website
        com.amazonaws.ca-west-1.dualstack s3 s3-accesspoint s3-accesspoint-fips s3-fips s3-website
        com.amazonaws.compute *
        com.amazonaws.compute-1 *
        com.amazonaws.elb *
        com.amazonaws.eu-central-1 analytics-gateway emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3
        com.amazonaws.eu-central-1 s3-accesspoint s3-object-lambda s3-website
        com.amazonaws.eu-central-1.aws-cloud9 webview-assets
        com.amazonaws.eu-central-1.bedrock-agentcore consent-portal
        com.amazonaws.eu-central-1.cloud9 vfs webview-assets
        com.amazonaws.eu-central-1.dualstack s3 s3-accesspoint s3-website
        com.amazonaws.eu-central-2 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        com.amazonaws.eu-central-2 s3-object-lambda s3-website
        com.amazonaws.eu-central-2.dualstack s3 s3-accesspoint s3-website
        com.amazonaws.eu-north-1 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        com.amazonaws.eu-north-1 s3-object-lambda s3-website
        com.amazonaws.eu-north-1.aws-cloud9 webview-assets
        com.amazonaws.eu-north-1.bedrock-agentcore consent-portal
        com.amazonaws.eu-north-1.cloud9 vfs webview-assets
        com.amazonaws.eu-north-1.dualstack s3 s3-accesspoint
        com.amazonaws.eu-south-1 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        com.amazonaws.eu-south-1 s3-object-lambda s3-website
        com.amazonaws.eu-south-1.aws-cloud9 webview-assets
        com.amazonaws.eu-south-1.bedrock-agentcore consent-portal
        com.amazonaws.eu-south-1.cloud9 vfs webview-assets
        com.amazonaws.eu-south-1.dualstack s3 s3-accesspoint s3-website
        com.amazonaws.eu-south-2 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        com.amazonaws.eu-south-2 s3-object-lambda s3-website
        com.amazonaws.eu-south-2.bedrock-agentcore consent-portal
        com.amazonaws.eu-south-2.dualstack s3 s3-accesspoint s3-website
        com.amazonaws.eu-west-1 analytics-gateway emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3
        com.amazonaws.eu-west-1 s3-accesspoint s3-deprecated s3-object-lambda s3-website
        com.amazonaws.eu-west-1.aws-cloud9 webview-assets
        com.amazonaws.eu-west-1.bedrock-agentcore consent-portal
        com.amazonaws.eu-west-1.cloud9 vfs webview-assets
        com.amazonaws.eu-west-1.dualstack s3 s3-accesspoint s3-website
        com.amazonaws.eu-west-2 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        com.amazonaws.eu-west-2 s3-object-lambda s3-website
        com.amazonaws.eu-west-2.aws-cloud9 webview-assets
        com.amazonaws.eu-west-2.bedrock-agentcore consent-portal
        com.amazonaws.eu-west-2.cloud9 vfs webview-assets
        com.amazonaws.eu-west-2.dualstack s3 s3-accesspoint
        com.amazonaws.eu-west-3 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        com.amazonaws.eu-west-3 s3-object-lambda s3-website
        com.amazonaws.eu-west-3.aws-cloud9 webview-assets
        com.amazonaws.eu-west-3.bedrock-agentcore consent-portal
        com.amazonaws.eu-west-3.cloud9 vfs webview-assets
        com.amazonaws.eu-west-3.dualstack s3 s3-accesspoint s3-website
        com.amazonaws.il-central-1 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        com.amazonaws.il-central-1 s3-object-lambda s3-website
        com.amazonaws.il-central-1.aws-cloud9 webview-assets
        com.amazonaws.il-central-1.cloud9 vfs
        com.amazonaws.il-central-1.dualstack s3 s3-accesspoint s3-website
        com.amazonaws.me-central-1 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        com.amazonaws.me-central-1 s3-object-lambda s3-website
        com.amazonaws.me-central-1.dualstack s3 s3-accesspoint s3-website
        com.amazonaws.me-south-1 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        com.amazonaws.me-south-1 s3-object-lambda s3-website
        com.amazonaws.me-south-1.aws-cloud9 webview-assets
        com.amazonaws.me-south-1.cloud9 vfs webview-assets
        com.amazonaws.me-south-1.dualstack s3 s3-accesspoint
        com.amazonaws.rds.af-south-1 *
        com.amazonaws.rds.ap-east-1 *
        com.amazonaws.rds.ap-east-2 *
        com.amazonaws.rds.ap-northeast-1 *
        com.amazonaws.rds.ap-northeast-2 *
        com.amazonaws.rds.ap-northeast-3 *
        com.amazonaws.rds.ap-south-1 *
        com.amazonaws.rds.ap-south-2 *
        com.amazonaws.rds.ap-southeast-1 *
        com.amazonaws.rds.ap-southeast-2 *
        com.amazonaws.rds.ap-southeast-3 *
        com.amazonaws.rds.ap-southeast-4 *
        com.amazonaws.rds.ap-southeast-5 *
        com.amazonaws.rds.ap-southeast-6 *
        com.amazonaws.rds.ap-southeast-7 *
        com.amazonaws.rds.ca-central-1 *
        com.amazonaws.rds.ca-west-1 *
        com.amazonaws.rds.eu-central-1 *
        com.amazonaws.rds.eu-central-2 *
        com.amazonaws.rds.eu-west-1 *
        com.amazonaws.rds.eu-west-2 *
        com.amazonaws.rds.eu-west-3 *
        com.amazonaws.rds.il-central-1 *
        com.amazonaws.rds.me-central-1 *
        com.amazonaws.rds.me-south-1 *
        com.amazonaws.rds.mx-central-1 *
        com.amazonaws.rds.sa-east-1 *
        com.amazonaws.rds.us-east-1 *
        com.amazonaws.rds.us-east-2 *
        com.amazonaws.rds.us-gov-east-1 *
        com.amazonaws.rds.us-gov-west-1 *
        com.amazonaws.rds.us-northeast-1 *
        com.amazonaws.rds.us-west-1 *
        com.amazonaws.rds.us-west-2 *
        com.amazonaws.s3-global.accesspoint mrap
        com.amazonaws.sa-east-1 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        com.amazonaws.sa-east-1 s3-object-lambda s3-website
        com.amazonaws.sa-east-1.aws-cloud9 webview-assets
        com.amazonaws.sa-east-1.bedrock-agentcore consent-portal
        com.amazonaws.sa-east-1.cloud9 vfs webview-assets
        com.amazonaws.sa-east-1.dualstack s3 s3-accesspoint s3-website
        com.amazonaws.us-east-1 analytics-gateway emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3
        com.amazonaws.us-east-1 s3-accesspoint s3-accesspoint-fips s3-deprecated s3-fips s3-object-lambda s3-website
        com.amazonaws.us-east-1.aws-cloud9 webview-assets
        com.amazonaws.us-east-1.bedrock-agentcore consent-portal
        com.amazonaws.us-east-1.cloud9 vfs webview-assets
        com.amazonaws.us-east-1.dualstack s3 s3-accesspoint s3-accesspoint-fips s3-fips s3-website
        com.amazonaws.us-east-2 analytics-gateway emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3
        com.amazonaws.us-east-2 s3-accesspoint s3-accesspoint-fips s3-deprecated s3-fips s3-object-lambda s3-website
        com.amazonaws.us-east-2.aws-cloud9 webview-assets
        com.amazonaws.us-east-2.bedrock-agentcore consent-portal
        com.amazonaws.us-east-2.cloud9 vfs webview-assets
        com.amazonaws.us-east-2.dualstack s3 s3-accesspoint s3-accesspoint-fips s3-fips s3-website
        com.amazonaws.us-gov-east-1 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        com.amazonaws.us-gov-east-1 s3-accesspoint-fips s3-fips s3-object-lambda s3-website
        com.amazonaws.us-gov-east-1.dualstack s3 s3-accesspoint s3-accesspoint-fips s3-fips s3-website
        com.amazonaws.us-gov-west-1 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        com.amazonaws.us-gov-west-1 s3-accesspoint-fips s3-fips s3-object-lambda s3-website
        com.amazonaws.us-gov-west-1.bedrock-agentcore consent-portal
        com.amazonaws.us-gov-west-1.dualstack s3 s3-accesspoint s3-accesspoint-fips s3-fips s3-website
        com.amazonaws.us-west-1 emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3 s3-accesspoint
        com.amazonaws.us-west-1 s3-accesspoint-fips s3-fips s3-object-lambda s3-website
        com.amazonaws.us-west-1.aws-cloud9 webview-assets
        com.amazonaws.us-west-1.bedrock-agentcore consent-portal
        com.amazonaws.us-west-1.cloud9 vfs webview-assets
        com.amazonaws.us-west-1.dualstack s3 s3-accesspoint s3-accesspoint-fips s3-fips s3-website
        com.amazonaws.us-west-2 analytics-gateway emrappui-prod emrnotebooks-prod emrstudio-prod execute-api s3
        com.amazonaws.us-west-2 s3-accesspoint s3-accesspoint-fips s3-deprecated s3-fips s3-object-lambda s3-website
        com.amazonaws.us-west-2.aws-cloud9 webview-assets
        com.amazonaws.us-west-2.bedrock-agentcore consent-portal
        com.amazonaws.us-west-2.cloud9 vfs webview-assets
        com.amazonaws.us-west-2.dualstack s3 s3-accesspoint s3-accesspoint-fips s3-fips s3-website
        com.amazoncognito.af-south-1 auth
        com.amazoncognito.ap-east-1 auth
        com.amazoncognito.ap-east-2 auth
        com.amazoncognito.ap-northeast-1 auth
        com.amazoncognito.ap-northeast-2 auth
        com.amazoncognito.ap-northeast-3 auth
        com.amazoncognito.ap-south-1 auth
        com.amazoncognito.ap-south-2 auth
        com.amazoncognito.ap-southeast-1 auth
        com.amazoncognito.ap-southeast-2 auth
        com.amazoncognito.ap-southeast-3 auth
        com.amazoncognito.ap-southeast-4 auth
        com.amazoncognito.ap-southeast-5 auth
        com.amazoncognito.ap-southeast-6 auth
        com.amazoncognito.ap-southeast-7 auth
        com.amazoncognito.ca-central-1 auth
        com.amazoncognito.ca-west-1 auth
        com.amazoncognito.eu-central-1 auth
        com.amazoncognito.eu-central-2 auth
        com.amazoncognito.eu-north-1 auth
        com.amazoncognito.eu-south-1 auth
        com.amazoncognito.eu-south-2 auth
        com.amazoncognito.eu-west-1 auth
        com.amazoncognito.eu-west-2 auth
        com.amazoncognito.eu-west-3 auth
        com.amazoncognito.il-central-1 auth
        com.amazoncognito.me-central-1 auth
        com.amazoncognito.me-south-1 auth
        com.amazoncognito.mx-central-1 auth
        com.amazoncognito.sa-east-1 auth
        com.amazoncognito.us-east-1 auth auth-fips
        com.amazoncognito.us-east-2 auth auth-fips
        com.amazoncognito.us-gov-east-1 auth-fips
        com.amazoncognito.us-gov-west-1 auth-fips
        com.amazoncognito.us-west-1 auth auth-fips
        com.amazoncognito.us-west-2 auth auth-fips
        com.amazonlightsail.cs.ap-east-1 *
        com.amazonlightsail.cs.ap-northeast-1 *
        com.amazonlightsail.cs.ap-northeast-2 *
        com.amazonlightsail.cs.ap-south-1 *
        com.amazonlightsail.cs.ap-southeast-1 *
        com.amazonlightsail.cs.ap-southeast-2 *
        com.amazonlightsail.cs.ap-southeast-3 *
        com.amazonlightsail.cs.ap-southeast-5 *
        com.amazonlightsail.cs.ca-central-1 *
        com.amazonlightsail.cs.eu-central-1 *
        com.amazonlightsail.cs.eu-north-1 *
        com.amazonlightsail.cs.eu-south-2 *
        com.amazonlightsail.cs.eu-west-1 *
        com.amazonlightsail.cs.eu-west-2 *
        com.amazonlightsail.cs.eu-west-3 *
        com.amazonlightsail.cs.sa-east-1 *
        com.amazonlightsail.cs.us-east-1 *
        com.amazonlightsail.cs.us-east-2 *
        com.amazonlightsail.cs.us-west-2 *
        com.appspot.r *
        com.atlassian-3p *
        com.atlassian-3p-us-gov-mod *
        com.atlassian-isolated-3p *
        com.auiusercontent *
        com.awsapprunner *
        com.claudeusercontent frame
        com.clever-cloud.services *
        com.code.builder *
        com.code.dev-builder *
        com.code.stg-builder *
        com.cursorusercontent *
        com.customer-oci *
        com.customer-oci.oci *
        com.customer-oci.ocp *
        com.customer-oci.ocs *
        com.databricksapps aws gcp
        com.databricksapps.azure *
        com.datadetect demo instance
        com.devinapps *
        com.digitaloceanspaces *
        com.elasticbeanstalk af-south-1 ap-east-1 ap-northeast-1 ap-northeast-2 ap-northeast-3 ap-south-1 ap-south-2
        com.elasticbeanstalk ap-southeast-1 ap-southeast-2 ap-southeast-3 ap-southeast-4 ap-southeast-5 ap-southeast-6
        com.elasticbeanstalk ap-southeast-7 ca-central-1 ca-west-1 eu-central-1 eu-central-2 eu-north-1 eu-south-1
        com.elasticbeanstalk eu-south-2 eu-west-1 eu-west-2 eu-west-3 il-central-1 me-central-1 me-south-1 sa-east-1
        com.elasticbeanstalk us-east-1 us-east-2 us-gov-east-1 us-gov-west-1 us-west-1 us-west-2
        com.emergentagent preview
        com.evennode eu-1 eu-2 eu-3 eu-4 us-1 us-2 us-3 us-4
        com.fbsbx apps
        com.fin-ncloudstorage.object kr
        com.fin-ncloudstorage.object.kr s3-website
        com.fin-ncloudstorage.private.object kr
        com.gov-ncloudstorage kr kr-private
        com.gov-ncloudstorage.object kr krs
        com.gov-ncloudstorage.object.kr s3-website
        com.gov-ncloudstorage.object.krs s3-website
        com.gov-ncloudstorage.private.object kr krs
        com.herokuapp.compute *
        com.hosted-by-previder paas
        com.hosteur rag-cloud rag-cloud-ch
        com.ik-server jcloud jcloud-ver-jpc
        com.jelastic demo
        com.linode members
        com.linode.nodebalancer *
        com.linodeobjects *
        com.linodeusercontent ip
        com.lutrausercontent *
        com.massivegrid paas
        com.metaaiusercontent *
        com.meteorapp eu
        com.mythic-beasts caracal customer fentiger lynx ocelot oncilla onza sphinx vs x yali
        com.ncloud.objectstorage kr sg
        com.ncloudstorage kr kr-naver kr-naver-dev kr-private
        com.ncloudstorage.object de kr sg us
        com.ncloudstorage.object.de s3-website
        com.ncloudstorage.object.kr s3-website
        com.ncloudstorage.object.sg s3-website
        com.ncloudstorage.object.us s3-website
        com.ncloudstorage.private.object kr sg
        com.ncloudstorage.website kr kr-naver kr-naver-dev
        com.ncpstorage.object jp kr s3-website-jp
        com.ncpstorage.object.jp4 jp
        com.ncpstorage.object.jp5 jp
        com.ncpstorage.private.object jp kr
        com.ncpstorage.private.object.jp4 jp
        com.ncpstorage.private.object.jp5 jp
        com.nospamproxy cloud
        com.nospamproxy.cloud o365
        com.oaiusercontent *
        com.observableusercontent static
        com.oraclecloudapps *
        com.oraclegovcloudapps *
        com.paywhirl *
        com.prgmr xen
        com.project-study dev
        com.pythonanywhere eu
        com.qualyhqpartner *
        com.qualyhqportal *
        com.quipelements *
        com.render app
        com.salesforce.platform.code-builder-stg.test.001 *
        com.strapiapp media
        com.tb-hosting site
        com.typeform pro
        com.vultrobjects *
        com.wafaicloud jed ryd
        com.wiardweb pages
        com.wpenginepowered js
        com.ztna-dingtalk *
        community myforum nog ravendb
        company mybox
        cool de elementor
        cr ac co ed fi go or sa
        cu com edu gob inf nat net org
        cv com dev edu id int net nome org publ store
        cw com edu net org
        cx assessments ath calculators cloudns funnels gov info paynow quizzes researched tests
        cy ac biz com ekloges gov ltd mil net org press pro tm
        cy.com.scaleforce j
        cz co e4 gov realm
        cz.contentproxy9 rsc
        cz.metacentrum custom
        cz.metacentrum.cloud *
        cz.muni.cloud flt usr
        de 123webseite 12hp 2ix 4lima barsy bplaced co com community-pro ddnss ddnssec diskussionsbereich dnshome
        de dnsupdater dyn-berlin dyn-ip24 dynamisches-dns dyndns1 dyndnssec firewall-gateway fuettertdasnetz git-repos
        de goip heimdns home-webserver home64 in-berlin in-brb in-butter in-dsl in-vpn internet-dns ipv64 iservschule
        de isteingeek istmein keymachine l-o-g-i-n lcube-server lebtimnetz leitungsen lima-city logoip mein-iserv my
        de my-gateway my-router myhome-server myspreadshop rub ruhr-uni-bochum schuldock schulplattform schulserver
        de spdns square7 srvdns svn-repos taifun-dns test-iserv traeumtgerade virtual-user virtualuser webspaceconfig
        de xn--gnstigbestellen-zvb xn--gnstigliefern-wob
        de.bwcloud-os-instance *
        de.cosidns dyn
        de.ddnss dyn dyndns
        de.frusky *
        de.home-webserver dyn
        de.hs-heilbronn.it pages pages-research
        de.ruhr-uni-bochum.noc io
        de.speedpartner customer
        de.xenonconnect *
        design bss graphic
        dev barsy bearblog botdash brave codepen deno deno-staging erp fly githubpreview grebedoc hrsn is-a
        dev is-a-fullstack is-a-good is-cool is-not-a iserv leapcell localplayer loginline lp mediatech mocha-sandbox
        dev modx myaddr ngrok ngrok-free pages panel payload platter-app r2 runcontainers vercel vivenushop workers xmit
        dev.brave.s *
        dev.crm.aa *
        dev.crm.ab *
        dev.crm.ac *
        dev.crm.ad *
        dev.crm.ae *
        dev.crm.af *
        dev.crm.ci *
        dev.crm.d *
        dev.crm.pa *
        dev.crm.pb *
        dev.crm.pc *
        dev.crm.pd *
        dev.crm.pe *
        dev.crm.pf *
        dev.crm.w *
        dev.crm.wa *
        dev.crm.wb *
        dev.crm.wc *
        dev.crm.wd *
        dev.crm.we *
        dev.crm.wf *
        dev.erp web
        dev.evervault relay
        dev.gateway *
        dev.inbrowser *
        dev.lcl *
        dev.lclstage *
        dev.localcert.user *
        dev.lp api objects
        dev.replit *
        dev.replit.teams *
        dev.stg *
        dev.stgstage *
        dev.storage t3
        dev.storageapi t3
        dev.webhare *
        direct libp2p
        diy discourse imagine
        dk 123hjemmeside biz co firm myspreadshop reg store
        dm co com edu gov net org
        do art com edu gob gov mil net org sld web
        dz art asso com edu gov net org pol soc tm
        ec abg adm agron arqt art bar base chef com cont cpa cue dent dgn disco doc edu eng esm fin fot gal gob gov gye
        ec ibr info k12 lat loj med mil mktg mon net ntr odont official org pro prof psic psiq pub rio rrpp sal tech tul
        ec tur uio vet xxx
        edu.rit git-pages
        education co
        ee aip com edu fie gov lib med org pri riik
        eg ac com edu eun gov info me mil name net org sci sport tv
        email intouch
        email.tawk p
        email.tawkto p
        er *
        es 123miweb com edu gob myspreadshop nom org
        estate.compute *
        et biz com edu gov info name net org
        eu barsy cloudns deuxfleurs directwp dnshome prvw spdns
        eu.amazonwebservices.on.eusc-de-east-1 transfer-webapp
        eu.amazonwebservices.on.eusc-de-east-1.cognito-idp auth
        eu.dogado jelastic
        eu.nxa *
        eu.transurl *
        eus.party user
        events co koobin
        fan mkm
        fi 123kotisivu aland dy iki kapsi myspreadshop xn--hkkinen-5wa
        fi.cloudplatform fi
        financial co
        fj ac biz com edu gov id info mil name net org pro
        fk *
        fm com edu net org radio
        fm.user *
        fr 123siteweb aeroport asso avocat avoues cci chambagri chirurgiens-dentistes chirurgiens-dentistes-en-france
        fr com dedibox experts-comptables fbx-os fbxos freebox-os freeboxos goupile gouv greta huissier-justice kdns
        fr medecin myspreadshop nom notaires on-web pharmacien port prd tm veterinaire ynh
        fun ms vicp yicp zicp
        games pley sheezy
        gay pages
        gd edu gov
        gdn cnpy
        ge com cyb edu gov llc net online org pvt school tnx
        gg botdash co kaas net org panel stackit
        gg.panel daemon
        gg.ply d6
        gg.ply.at *
        gh biz com edu gov mil net org
        gi com edu gov ltd mod org
        gl co com edu net org
        global appwrite
        gn ac com edu gov net org
        goog cloud translate
        goog.usercontent *
        gp asso com edu mobi net org
        gr barsy com edu gov net org simplesite
        group discourse
        gt com edu gob ind mil net org
        gu com edu gov guam info net org web
        gw nx
        gy co com edu gov net org
        health hra
        hk com edu gov idv inc ltd net org xn--55qx5d xn--ciqpn xn--gmq050i xn--gmqw5a xn--io0a7i xn--lcvr32d xn--mk0axi
        hk xn--mxtq1m xn--od0alg xn--od0aq3b xn--tn0ag xn--uc0atv xn--uc0ay4a xn--wcvs22d xn--zf0avx
        hn com edu gob mil net org
        host bolt cloudaccess easypanel emergent fastvps freesite gadget half iserv jele mircloud myfast tempurl wp2
        host wpmudev
        hosting opencraft
        hr com from iz name
        hr.brendly shop
        ht adult art asso com coop edu firm gouv info med net org perso pol pro rel rt shop
        hu 2000 agrar bolt casino city co erotica erotika film forum games hotel info ingatlan jogasz konyvelo lakas
        hu media news org priv reklam sex shop sport suli szex tm tozsde utazas video
        id ac ai biz co desa e go kop mil my net or ponpes sch web xn--9tfky zone
        ie gov myspreadshop
        il ac co gov idf k12 muni net org
        il.co mytabit ravpage tabitorder
        im ac co com net org tt tv
        im.co ltd plc
        in 5g 6g ac aero ai alumni am bank barsy bihar biz business ca cloudns cn co com coop cs delhi dr edu er fin
        in firm gen gov gujarat ind indevs info int internet io me mil net nic org pg post pro res school supabase
        in travel tv ub uk up us web
        info barrel-of-knowledge barrell-of-knowledge barsy cloudns dnsupdate dvrcam dynamic-dns dyndns for-our forumz
        info groks-the groks-this here-for-more ilovecollege knowsitall mayfirst mittwald mittwaldserver no-ip nsupdate
        info selfip typo3server v-info webhop
        int eu
        io 2038 apigee b-data barsy basicserver beagleboard bitbucket bluebite boxfuse brave browsersafetymark
        io bubbleapps cleverapps cloudbeesusercontent co com darklang dedyn definima drive-platform editorx edu edugit
        io fh-muenster gitbook github gitlab gov hasura-app hostyhosting hypernode icp0 icp1 jele keenetic kiloapps
        io loginline lolipop mil mo-siemens musician myaddr myrdbx net ngrok nom org pantheonsite pstmn qcx qoto qzz
        io readthedocs resindevice sandcats telebit tickets utwente vaporcloud virtualserver webflow webflowtest
        io webthings wixstudio
        io.azurecontainer *
        io.beebyte paas
        io.beebyteapp sekd1
        io.brave.s *
        io.bubble cdn
        io.dappnode dyndns
        io.forgerock id
        io.icp0.raw *
        io.icp1.raw *
        io.lair apps
        io.moonscale *
        io.ngrok ap au eu in jp sa us
        io.nodeart stage
        io.on-k3s *
        io.on-rio *
        io.pstmn mock
        io.qcx.sys *
        io.rb-hosting site
        io.resinstaging devices
        io.scrypted client
        io.stolos *
        io.thingdust.dev cust reservd
        io.thingdust.disrec cust reservd
        io.thingdust.prod cust
        io.thingdust.testing cust reservd
        iq com edu gov mil net org
        ir ac arvanedge co gov id net org sch vistablog xn--mgba3a4f16a xn--mgba3a4fra
        it 123homepage 16-b 32-b 64-b abr abruzzo ag agrigento al alessandria alto-adige altoadige an ancona
        it andria-barletta-trani andria-trani-barletta andriabarlettatrani andriatranibarletta ao aosta aosta-valley
        it aostavalley aoste ap aq ar arezzo ascoli-piceno ascolipiceno asti at av avellino ba balsan balsan-sudtirol
        it balsan-suedtirol bari barletta-trani-andria barlettatraniandria bas basilicata belluno benevento bergamo bg
        it bi biella bl bn bo bologna bolzano bolzano-altoadige bozen bozen-sudtirol bozen-suedtirol br brescia brindisi
        it bs bt bulsan bulsan-sudtirol bulsan-suedtirol bz ca cagliari cal calabria caltanissetta cam campania
        it campidano-medio campidanomedio campobasso carbonia-iglesias carboniaiglesias carrara-massa carraramassa
        it caserta catania catanzaro cb ce cesena-forli cesenaforli ch chieti ci cl cn co como cosenza cr cremona
        it crotone cs ct cuneo cz dell-ogliastra dellogliastra dnshome edu emilia-romagna emiliaromagna emr en enna fc
        it fe fermo ferrara fg fi firenze florence fm foggia forli-cesena forlicesena fr friuli-v-giulia
        it friuli-ve-giulia friuli-vegiulia friuli-venezia-giulia friuli-veneziagiulia friuli-vgiulia friuliv-giulia
        it friulive-giulia friulivegiulia friulivenezia-giulia friuliveneziagiulia friulivgiulia frosinone fvg ge genoa
        it genova go gorizia gov gr grosseto ibxos iglesias-carbonia iglesiascarbonia iliadboxos im imperia is isernia
        it kr la-spezia laquila laspezia latina laz lazio lc le lecce lecco li lig liguria livorno lo lodi lom lombardia
        it lombardy lt lu lucania lucca macerata mantova mar marche massa-carrara massacarrara matera mb mc me
        it medio-campidano mediocampidano messina mi milan milano mn mo modena mol molise monza monza-brianza
        it monza-e-della-brianza monzabrianza monzaebrianza monzaedellabrianza ms mt myspreadshop na naples napoli no
        it novara nu nuoro og ogliastra olbia-tempio olbiatempio or oristano ot pa padova padua palermo parma pavia pc
        it pd pe perugia pesaro-urbino pesarourbino pescara pg pi piacenza piedmont piemonte pisa pistoia pmn pn po
        it pordenone potenza pr prato pt pu pug puglia pv pz ra ragusa ravenna rc re reggio-calabria reggio-emilia
        it reggiocalabria reggioemilia rg ri rieti rimini rm rn ro roma rome rovigo sa salerno sar sardegna sardinia
        it sassari savona si sic sicilia sicily siena siracusa so sondrio sp sr ss su sud-sardegna sudsardegna suedtirol
        it sv syncloud ta taa taranto te tempio-olbia tempioolbia teramo terni tn to torino tos toscana tp tr
        it trani-andria-barletta trani-barletta-andria traniandriabarletta tranibarlettaandria trapani trentin-sud-tirol
        it trentin-sudtirol trentin-sued-tirol trentin-suedtirol trentino trentino-a-adige trentino-aadige
        it trentino-alto-adige trentino-altoadige trentino-s-tirol trentino-stirol trentino-sud-tirol trentino-sudtirol
        it trentino-sued-tirol trentino-suedtirol trentinoa-adige trentinoaadige trentinoalto-adige trentinoaltoadige
        it trentinos-tirol trentinostirol trentinosud-tirol trentinosued-tirol trentinosuedtirol trentinsud-tirol
        it trentinsudtirol trentinsued-tirol trentinsuedtirol trento treviso trieste ts turin tuscany tv ud udine umb
        it umbria urbino-pesaro urbinopesaro va val-d-aosta val-daosta vald-aosta valle-aosta valle-d-aosta valle-daosta
        it valleaosta valled-aosta valledaosta vallee-aoste vallee-d-aoste valleeaoste valleedaoste vao varese vb vc vda
        it ve ven veneto venezia venice verbania verbano-cusio-ossola vercelli verona vi vibo-valentia vibovalentia
        it vicenza viterbo vr vs vt vv xn--balsan-sdtirol-nsb xn--bozen-sdtirol-2ob xn--bulsan-sdtirol-nsb
        it xn--cesena-forl-mcb xn--cesenaforl-i8a xn--forl-cesena-fcb xn--forlcesena-c8a xn--sdtirol-n2a
        it xn--trentin-sd-tirol-rzb xn--trentin-sdtirol-7vb xn--trentino-sd-tirol-c3b xn--trentino-sdtirol-szb
        it xn--trentinosd-tirol-rzb xn--trentinosdtirol-7vb xn--trentinsd-tirol-6vb xn--trentinsdtirol-nsb
        it xn--valle-aoste-ebb xn--valle-d-aoste-ehb xn--valleaoste-e7a xn--valledaoste-ebb
        it.neen jc
        je co net of org
        jm *
        jo agri ai com edu eng fm gov mil net org per phd sch tv
        jp 0am 0g0 0j0 0t0 2-d ac ad aichi akita angry aomori babyblue babymilk backdrop bambina bitter blush bona boo
        jp boy boyfriend but buyshop candypop capoo catfood cheap chiba chicappa chillout chips chowder chu ciao co
        jp cocotte coolblog cranky crap cutegirl daa daynight deca deci digick ed eek egoism ehime fakefur fashionstore
        jp fem flier flop floppy fool frenchkiss fukui fukuoka fukushima gifu girlfriend girly gloomy go gonna gr
        jp greater gunma hacca halfmoon handcrafted hateblo hatenablog hatenadiary heavy her hiho hippy hiroshima
        jp hokkaido holy hungry hyogo ibaraki icurus ishikawa itigo iwate jeez jellybean kagawa kagoshima kanagawa
        jp kawaiishop kikirara kill kilo kochi kumamoto kuron kyoto lg littlestar lolipopmc lolitapunk lomo lovepop
        jp lovesick main matrix mie mimoza miyagi miyazaki mods mond mongolian moo mydns nagano nagasaki namaste nara ne
        jp netgamers niigata nikita nobushi noor nyanta o0o0 oita okayama okinawa oops or osaka parallel parasite pecori
        jp peewee penne pepper perma pgw pigboat pinoko punyu pupu pussycat pya raindrop rdy readymade rgr rulez sadist
        jp saga saitama saloon sblo schoolbus secret shiga shimane shizuoka skr staba stripper sub sunnyday supersale
        jp tank theshop thick tochigi tokushima tokyo tonkotsu tottori toyama uh-oh under undo upper usercontent velvet
        jp verse versus vivian wakayama watson weblike websozai whitesnow wjg xii xn--0trq7p7nn xn--1ctwo xn--1lqs03n
        jp xn--1lqs71d xn--2m4a15e xn--32vp30h xn--4it168d xn--4it797k xn--4pvxs xn--5js045d xn--5rtp49c xn--5rtq34k
        jp xn--6btw5a xn--6orx2r xn--7t0a264c xn--8ltr62k xn--8pvr4u xn--c3s14m xn--d5qv7z876c xn--djrs72d6uy xn--djty4k
        jp xn--efvn9s xn--ehqz56n xn--elqq16h xn--f6qx53a xn--k7yn95e xn--kbrq7o xn--klt787d xn--kltp7d xn--kltx9a
        jp xn--klty5x xn--mkru45i xn--nit225k xn--ntso0iqx3a xn--ntsq17g xn--pssu33l xn--qqqt11m xn--rht27z xn--rht3d
        jp xn--rht61e xn--rny31h xn--tor131o xn--uist22h xn--uisz3g xn--uuwu58a xn--vgu402c xn--zbx025d yamagata
        jp yamaguchi yamanashi zombie
        jp.aichi aisai ama anjo asuke chiryu chita fuso gamagori handa hazu hekinan higashiura ichinomiya inazawa
        jp.aichi inuyama isshiki iwakura kanie kariya kasugai kira kiyosu komaki konan kota mihama miyoshi nishio
        jp.aichi nisshin obu oguchi oharu okazaki owariasahi seto shikatsu shinshiro shitara tahara takahama tobishima
        jp.aichi toei togo tokai tokoname toyoake toyohashi toyokawa toyone toyota tsushima yatomi
        jp.akita akita daisen fujisato gojome hachirogata happou higashinaruse honjo honjyo ikawa kamikoani kamioka
        jp.akita katagami kazuno kitaakita kosaka kyowa misato mitane moriyoshi nikaho noshiro odate oga ogata semboku
        jp.akita yokote yurihonjo
        jp.aomori aomori gonohe hachinohe hashikami hiranai hirosaki itayanagi kuroishi misawa mutsu nakadomari noheji
        jp.aomori oirase owani rokunohe sannohe shichinohe shingo takko towada tsugaru tsuruta
        jp.chiba abiko asahi chonan chosei choshi chuo funabashi futtsu hanamigawa ichihara ichikawa ichinomiya inzai
        jp.chiba isumi kamagaya kamogawa kashiwa katori katsuura kimitsu kisarazu kozaki kujukuri kyonan matsudo midori
        jp.chiba mihama minamiboso mobara mutsuzawa nagara nagareyama narashino narita noda oamishirasato omigawa onjuku
        jp.chiba otaki sakae sakura shimofusa shirako shiroi shisui sodegaura sosa tako tateyama togane tohnosho
        jp.chiba tomisato urayasu yachimata yachiyo yokaichiba yokoshibahikari yotsukaido
        jp.ehime ainan honai ikata imabari iyo kamijima kihoku kumakogen masaki matsuno matsuyama namikata niihama ozu
        jp.ehime saijo seiyo shikokuchuo tobe toon uchiko uwajima yawatahama
        jp.fukui echizen eiheiji fukui ikeda katsuyama mihama minamiechizen obama ohi ono sabae sakai takahama tsuruga
        jp.fukui wakasa
        jp.fukuoka ashiya buzen chikugo chikuho chikujo chikushino chikuzen chuo dazaifu fukuchi hakata higashi hirokawa
        jp.fukuoka hisayama iizuka inatsuki kaho kasuga kasuya kawara keisen koga kurate kurogi kurume minami miyako
        jp.fukuoka miyama miyawaka mizumaki munakata nakagawa nakama nishi nogata ogori okagaki okawa oki omuta onga
        jp.fukuoka onojo oto saigawa sasaguri shingu shinyoshitomi shonai soeda sue tachiarai tagawa takata toho toyotsu
        jp.fukuoka tsuiki ukiha umi usui yamada yame yanagawa yukuhashi
        jp.fukushima aizubange aizumisato aizuwakamatsu asakawa bandai date fukushima furudono futaba hanawa higashi
        jp.fukushima hirata hirono iitate inawashiro ishikawa iwaki izumizaki kagamiishi kaneyama kawamata kitakata
        jp.fukushima kitashiobara koori koriyama kunimi miharu mishima namie nango nishiaizu nishigo okuma omotego ono
        jp.fukushima otama samegawa shimogo shirakawa showa soma sukagawa taishin tamakawa tanagura tenei yabuki yamato
        jp.fukushima yamatsuri yanaizu yugawa
        jp.gifu anpachi ena gifu ginan godo gujo hashima hichiso hida higashishirakawa ibigawa ikeda kakamigahara kani
        jp.gifu kasahara kasamatsu kawaue kitagata mino minokamo mitake mizunami motosu nakatsugawa ogaki sakahogi seki
        jp.gifu sekigahara shirakawa tajimi takayama tarui toki tomika wanouchi yamagata yaotsu yoro
        jp.gunma annaka chiyoda fujioka higashiagatsuma isesaki itakura kanna kanra katashina kawaba kiryu kusatsu
        jp.gunma maebashi meiwa midori minakami naganohara nakanojo nanmoku numata oizumi ora ota shibukawa shimonita
        jp.gunma shinto showa takasaki takayama tamamura tatebayashi tomioka tsukiyono tsumagoi ueno yoshioka
        jp.hiroshima asaminami daiwa etajima fuchu fukuyama hatsukaichi higashihiroshima hongo jinsekikogen kaita kui
        jp.hiroshima kumano kure mihara miyoshi naka onomichi osakikamijima otake saka sera seranishi shinichi shobara
        jp.hiroshima takehara
        jp.hokkaido abashiri abira aibetsu akabira akkeshi asahikawa ashibetsu ashoro assabu atsuma bibai biei bifuka
        jp.hokkaido bihoro biratori chippubetsu chitose date ebetsu embetsu eniwa erimo esan esashi fukagawa fukushima
        jp.hokkaido furano furubira haboro hakodate hamatonbetsu hidaka higashikagura higashikawa hiroo hokuryu hokuto
        jp.hokkaido honbetsu horokanai horonobe ikeda imakane ishikari iwamizawa iwanai kamifurano kamikawa kamishihoro
        jp.hokkaido kamisunagawa kamoenai kayabe kembuchi kikonai kimobetsu kitahiroshima kitami kiyosato koshimizu
        jp.hokkaido kunneppu kuriyama kuromatsunai kushiro kutchan kyowa mashike matsumae mikasa minamifurano mombetsu
        jp.hokkaido moseushi mukawa muroran naie nakagawa nakasatsunai nakatombetsu nanae nanporo nayoro nemuro niikappu
        jp.hokkaido niki nishiokoppe noboribetsu numata obihiro obira oketo okoppe otaru otobe otofuke otoineppu oumu
        jp.hokkaido ozora pippu rankoshi rebun rikubetsu rishiri rishirifuji saroma sarufutsu shakotan shari shibecha
        jp.hokkaido shibetsu shikabe shikaoi shimamaki shimizu shimokawa shinshinotsu shintoku shiranuka shiraoi
        jp.hokkaido shiriuchi sobetsu sunagawa taiki takasu takikawa takinoue teshikaga tobetsu tohma tomakomai tomari
        jp.hokkaido toya toyako toyotomi toyoura tsubetsu tsukigata urakawa urausu uryu utashinai wakkanai wassamu
        jp.hokkaido yakumo yoichi
        jp.hyogo aioi akashi ako amagasaki aogaki asago ashiya awaji fukusaki goshiki harima himeji ichikawa inagawa
        jp.hyogo itami kakogawa kamigori kamikawa kasai kasuga kawanishi miki minamiawaji nishinomiya nishiwaki ono
        jp.hyogo sanda sannan sasayama sayo shingu shinonsen shiso sumoto taishi taka takarazuka takasago takino tamba
        jp.hyogo tatsuno toyooka yabu yashiro yoka yokawa
        jp.ibaraki ami asahi bando chikusei daigo fujishiro hitachi hitachinaka hitachiomiya hitachiota ibaraki ina
        jp.ibaraki inashiki itako iwama joso kamisu kasama kashima kasumigaura koga miho mito moriya naka namegata oarai
        jp.ibaraki ogawa omitama ryugasaki sakai sakuragawa shimodate shimotsuma shirosato sowa suifu takahagi
        jp.ibaraki tamatsukuri tokai tomobe tone toride tsuchiura tsukuba uchihara ushiku yachiyo yamagata yawara yuki
        jp.ishikawa anamizu hakui hakusan kaga kahoku kanazawa kawakita komatsu nakanoto nanao nomi nonoichi noto shika
        jp.ishikawa suzu tsubata tsurugi uchinada wajima
        jp.iwate fudai fujisawa hanamaki hiraizumi hirono ichinohe ichinoseki iwaizumi iwate joboji kamaishi kanegasaki
        jp.iwate karumai kawai kitakami kuji kunohe kuzumaki miyako mizusawa morioka ninohe noda ofunato oshu otsuchi
        jp.iwate rikuzentakata shiwa shizukuishi sumita tanohata tono yahaba yamada
        jp.kagawa ayagawa higashikagawa kanonji kotohira manno marugame mitoyo naoshima sanuki tadotsu takamatsu tonosho
        jp.kagawa uchinomi utazu zentsuji
        jp.kagoshima akune amami hioki isa isen izumi kagoshima kanoya kawanabe kinko kouyama makurazaki matsumoto
        jp.kagoshima minamitane nakatane nishinoomote satsumasendai soo tarumizu yusui
        jp.kanagawa aikawa atsugi ayase chigasaki ebina fujisawa hadano hakone hiratsuka isehara kaisei kamakura
        jp.kanagawa kiyokawa matsuda minamiashigara miura nakai ninomiya odawara oi oiso sagamihara samukawa tsukui
        jp.kanagawa yamakita yamato yokosuka yugawara zama zushi
        jp.kawasaki !city *
        jp.kitakyushu !city *
        jp.kobe !city *
        jp.kochi aki geisei hidaka higashitsuno ino kagami kami kitagawa kochi mihara motoyama muroto nahari nakamura
        jp.kochi nankoku nishitosa niyodogawa ochi okawa otoyo otsuki sakawa sukumo susaki tosa tosashimizu toyo tsuno
        jp.kochi umaji yasuda yusuhara
        jp.kumamoto amakusa arao aso choyo gyokuto kamiamakusa kikuchi kumamoto mashiki mifune minamata minamioguni
        jp.kumamoto nagasu nishihara oguni ozu sumoto takamori uki uto yamaga yamato yatsushiro
        jp.kyoto ayabe fukuchiyama higashiyama ide ine joyo kameoka kamo kita kizu kumiyama kyotamba kyotanabe kyotango
        jp.kyoto maizuru minami minamiyamashiro miyazu muko nagaokakyo nakagyo nantan oyamazaki sakyo seika tanabe uji
        jp.kyoto ujitawara wazuka yamashina yawata
        jp.mie asahi inabe ise kameyama kawagoe kiho kisosaki kiwa komono kumano kuwana matsusaka meiwa mihama minamiise
        jp.mie misugi miyama nabari shima suzuka tado taiki taki tamaki toba tsu udono ureshino watarai yokkaichi
        jp.miyagi furukawa higashimatsushima ishinomaki iwanuma kakuda kami kawasaki marumori matsushima minamisanriku
        jp.miyagi misato murata natori ogawara ohira onagawa osaki rifu semine shibata shichikashuku shikama shiogama
        jp.miyagi shiroishi tagajo taiwa tome tomiya wakuya watari yamamoto zao
        jp.miyazaki aya ebino gokase hyuga kadogawa kawaminami kijo kitagawa kitakata kitaura kobayashi kunitomi kushima
        jp.miyazaki mimata miyakonojo miyazaki morotsuka nichinan nishimera nobeoka saito shiiba shintomi takaharu
        jp.miyazaki takanabe takazaki tsuno
        jp.nagano achi agematsu anan aoki asahi azumino chikuhoku chikuma chino fujimi hakuba hara hiraya iida iijima
        jp.nagano iiyama iizuna ikeda ikusaka ina karuizawa kawakami kiso kisofukushima kitaaiki komagane komoro
        jp.nagano matsukawa matsumoto miasa minamiaiki minamimaki minamiminowa minowa miyada miyota mochizuki nagano
        jp.nagano nagawa nagiso nakagawa nakano nozawaonsen obuse ogawa okaya omachi omi ookuwa ooshika otaki otari
        jp.nagano sakae sakaki saku sakuho shimosuwa shinanomachi shiojiri suwa suzaka takagi takamori takayama
        jp.nagano tateshina tatsuno togakushi togura tomi ueda wada yamagata yamanouchi yasaka yasuoka
        jp.nagasaki chijiwa futsu goto hasami hirado iki isahaya kawatana kuchinotsu matsuura nagasaki obama omura oseto
        jp.nagasaki saikai sasebo seihi shimabara shinkamigoto togitsu tsushima unzen
        jp.nagoya !city *
        jp.nara ando gose heguri higashiyoshino ikaruga ikoma kamikitayama kanmaki kashiba kashihara katsuragi kawai
        jp.nara kawakami kawanishi koryo kurotaki mitsue miyake nara nosegawa oji ouda oyodo sakurai sango shimoichi
        jp.nara shimokitayama shinjo soni takatori tawaramoto tenkawa tenri uda yamatokoriyama yamatotakada yamazoe
        jp.nara yoshino
        jp.ne gehirn ivory mail-box mints mokuren opal sakura sumomo topaz
        jp.ne.aseinet user
        jp.niigata aga agano gosen itoigawa izumozaki joetsu kamo kariwa kashiwazaki minamiuonuma mitsuke muika murakami
        jp.niigata myoko nagaoka niigata ojiya omi sado sanjo seiro seirou sekikawa shibata tagami tainai tochio
        jp.niigata tokamachi tsubame tsunan uonuma yahiko yoita yuzawa
        jp.oita beppu bungoono bungotakada hasama hiji himeshima hita kamitsue kokonoe kuju kunisaki kusu oita saiki
        jp.oita taketa tsukumi usa usuki yufu
        jp.okayama akaiwa asakuchi bizen hayashima ibara kagamino kasaoka kibichuo kumenan kurashiki maniwa misaki nagi
        jp.okayama niimi nishiawakura okayama satosho setouchi shinjo shoo soja takahashi tamano tsuyama wake yakage
        jp.okinawa aguni ginowan ginoza gushikami haebaru higashi hirara iheya ishigaki ishikawa itoman izena kadena kin
        jp.okinawa kitadaito kitanakagusuku kumejima kunigami minamidaito motobu nago naha nakagusuku nakijin nanjo
        jp.okinawa nishihara ogimi okinawa onna shimoji taketomi tarama tokashiki tomigusuku tonaki urasoe uruma yaese
        jp.okinawa yomitan yonabaru yonaguni zamami
        jp.osaka abeno chihayaakasaka chuo daito fujiidera habikino hannan higashiosaka higashisumiyoshi higashiyodogawa
        jp.osaka hirakata ibaraki ikeda izumi izumiotsu izumisano kadoma kaizuka kanan kashiwara katano kawachinagano
        jp.osaka kishiwada kita kumatori matsubara minato minoh misaki moriguchi neyagawa nishi nose osakasayama sakai
        jp.osaka sayama sennan settsu shijonawate shimamoto suita tadaoka taishi tajiri takaishi takatsuki tondabayashi
        jp.osaka toyonaka toyono yao
        jp.saga ariake arita fukudomi genkai hamatama hizen imari kamimine kanzaki karatsu kashima kitagata kitahata
        jp.saga kiyama kouhoku kyuragi nishiarita ogi omachi ouchi saga shiroishi taku tara tosu yoshinogari
        jp.saitama arakawa asaka chichibu fujimi fujimino fukaya hanno hanyu hasuda hatogaya hatoyama hidaka
        jp.saitama higashichichibu higashimatsuyama honjo ina iruma iwatsuki kamiizumi kamikawa kamisato kasukabe
        jp.saitama kawagoe kawaguchi kawajima kazo kitamoto koshigaya kounosu kuki kumagaya matsubushi minano misato
        jp.saitama miyashiro miyoshi moroyama nagatoro namegawa niiza ogano ogawa ogose okegawa omiya otaki ranzan
        jp.saitama ryokami saitama sakado satte sayama shiki shiraoka soka sugito toda tokigawa tokorozawa tsurugashima
        jp.saitama urawa warabi yashio yokoze yono yorii yoshida yoshikawa yoshimi
        jp.sakurastorage.isk01 s3
        jp.sakurastorage.isk02 s3
        jp.sapporo !city *
        jp.sendai !city *
        jp.shiga aisho gamo higashiomi hikone koka konan kosei koto kusatsu maibara moriyama nagahama nishiazai notogawa
        jp.shiga omihachiman otsu ritto ryuoh takashima takatsuki torahime toyosato yasu
        jp.shimane akagi ama gotsu hamada higashiizumo hikawa hikimi izumo kakinoki masuda matsue misato nishinoshima
        jp.shimane ohda okinoshima okuizumo shimane tamayu tsuwano unnan yakumo yasugi yatsuka
        jp.shizuoka arai atami fuji fujieda fujikawa fujinomiya fukuroi gotemba haibara hamamatsu higashiizu ito iwata
        jp.shizuoka izu izunokuni kakegawa kannami kawanehon kawazu kikugawa kosai makinohara matsuzaki minamiizu
        jp.shizuoka mishima morimachi nishiizu numazu omaezaki shimada shimizu shimoda shizuoka susono yaizu yoshida
        jp.tochigi ashikaga bato haga ichikai iwafune kaminokawa kanuma karasuyama kuroiso mashiko mibu moka motegi nasu
        jp.tochigi nasushiobara nikko nishikata nogi ohira ohtawara oyama sakura sano shimotsuke shioya takanezawa
        jp.tochigi tochigi tsuga ujiie utsunomiya yaita
        jp.tokushima aizumi anan ichiba itano kainan komatsushima matsushige mima minami miyoshi mugi nakagawa naruto
        jp.tokushima sanagochi shishikui tokushima wajiki
        jp.tokyo adachi akiruno akishima aogashima arakawa bunkyo chiyoda chofu chuo edogawa fuchu fussa hachijo
        jp.tokyo hachioji hamura higashikurume higashimurayama higashiyamato hino hinode hinohara inagi itabashi
        jp.tokyo katsushika kita kiyose kodaira koganei kokubunji komae koto kouzushima kunitachi machida meguro minato
        jp.tokyo mitaka mizuho musashimurayama musashino nakano nerima ogasawara okutama ome oshima ota setagaya shibuya
        jp.tokyo shinagawa shinjuku suginami sumida tachikawa taito tama toshima
        jp.tottori chizu hino kawahara koge kotoura misasa nanbu nichinan sakaiminato tottori wakasa yazu yonago
        jp.toyama asahi fuchu fukumitsu funahashi himi imizu inami johana kamiichi kurobe nakaniikawa namerikawa nanto
        jp.toyama nyuzen oyabe taira takaoka tateyama toga tonami toyama unazuki uozu yamada
        jp.wakayama arida aridagawa gobo hashimoto hidaka hirogawa inami iwade kainan kamitonda katsuragi kimino
        jp.wakayama kinokawa kitayama koya koza kozagawa kudoyama kushimoto mihama misato nachikatsuura shingu shirahama
        jp.wakayama taiji tanabe wakayama yuasa yura
        jp.webaccel rs user
        jp.yamagata asahi funagata higashine iide kahoku kaminoyama kaneyama kawanishi mamurogawa mikawa murayama nagai
        jp.yamagata nakayama nanyo nishikawa obanazawa oe oguni ohkura oishida sagae sakata sakegawa shinjo shirataka
        jp.yamagata shonai takahata tendo tozawa tsuruoka yamagata yamanobe yonezawa yuza
        jp.yamaguchi abu hagi hikari hofu iwakuni kudamatsu mitou nagato oshima shimonoseki shunan tabuse tokuyama
        jp.yamaguchi toyota ube yuu
        jp.yamanashi chuo doshi fuefuki fujikawa fujikawaguchiko fujiyoshida hayakawa hokuto ichikawamisato kai kofu
        jp.yamanashi koshu kosuge minami-alps minobu nakamichi nanbu narusawa nirasaki nishikatsura oshino otsuki showa
        jp.yamanashi tabayama tsuru uenohara yamanakako yamanashi
        jp.yokohama !city *
        ke ac co go info me mobi ne or sc
        kg ae com edu gov mil net org us xx
        kh com edu gov net org
        ki biz com edu gov info net org
        km ass asso com coop edu gouv gov medecin mil nom notaires org pharmaciens prd presse tm veterinaire
        kn edu gov net org
        kp com edu gov org rep tra
        kr ac ai busan c01 chungbuk chungnam co daegu daejeon eliv-api eliv-cdn eliv-dns es gangwon go gwangju gyeongbuk
        kr gyeonggi gyeongnam hs incheon io it jeju jeonbuk jeonnam kg me mil mmv ms ne or pe re sc seoul ulsan vki
        krd co edu
        kw com edu emb gov ind net org
        ky com edu net org
        kz com edu gov jcloud mil net org
        la bnr com edu gov info int net org per
        lb com edu gov net org
        lc co com edu gov net org oy
        limo.eth *
        link canva cyon joinmc keenetic myfritz mypep
        link.dweb *
        link.eth *
        link.inbrowser *
        link.nftstorage ipfs
        link.storacha ipfs
        link.w3s ipfs
        live aem hlx
        live.ewp *
        lk ac assn com edu gov grp hotel int ltd net ngo org sch soc web
        lol omg
        lr com edu gov net org
        ls ac biz co edu gov info net org sc
        lt gov
        lu 123website
        lv asn com conf edu gov id mil net org
        ly com edu gov id med net org plc sch
        ma ac co gov net org press
        mc asso tm
        md ir
        me ac barsy brasilia c66 co craft ddns diskstation dnsfor dscloud edgestack edu filegear filegear-sg gov grok
        me hopto i234 its loginto lohmus mcdir mybox myds net nohost noip opencloud org priv soundcast synology tcp4 vp4
        me webhop
        me.hooc seprox
        me.transip site
        media framer
        menu barsy barsyonline
        mg co com edu gov mil nom org prd
        mk com edu gov inf name net org
        ml ac art asso com edu gouv gov info inst net org pr presse
        mm *
        mn edu gov nyc org
        mo com edu gov net org
        mobi barsy dscloud
        mp ju
        mr gov
        ms com edu gov minisite net org
        mt com edu net org
        mu ac co com gov net or org
        mv aero biz com coop edu gov info int mil museum name net org pro
        mw ac biz co com coop edu gov int net org
        mx com edu gob net org
        my biz com edu gov mil name net org
        mz ac adv co edu gov mil net org
        na alt co com gov net org
        name ispmanager keenetic
        name.her forgot
        name.his forgot
        nc asso nom
        net adobeaemcloud adobeio-static adobeioruntime akadns akamai akamai-staging akamaiedge akamaiedge-staging
        net akamaihd akamaihd-staging akamaiorigin akamaiorigin-staging akamaized akamaized-staging alwaysdata
        net apps-1and1 appudo at-band-camp azure-api azure-mobile azureedge azurefd azurestaticapps azurewebsites barsy
        net blackbaudcdn blogdns boomla botdash bounceme bplaced broke-it buyshouses casacam cdn-edges cdn77-ssl
        net channelsdvr clickrising cloudaccess cloudapp cloudflare cloudfront cloudfunctions cloudjiffy cloudycluster
        net community-pro ctfcloud dattolocal ddns ddns-ip de5 debian definima deno dns-cloud dns-dynamic dnsalias
        net dnsdojo dnsup does-it dontexist dsmynas dynalias dynathome dynu dynuddns dynv6 eating-organic edgekey
        net edgekey-staging edgesuite edgesuite-staging endofinternet familyds fastlylb feste-ip firewall-gateway
        net from-az from-co from-la from-ny gb gets-it ggff grafana-dev ham-radio-op heteml hicam homeftp homeip
        net homelinux homeunix hu in in-dsl in-the-band in-vpn iobb ipifony ipv64 is-a-chef is-a-geek isa-geek jp
        net keyword-on kicks-ass kinghost knx-server krellian live-on localcert luyani mafelo meinforum memset moonscale
        net myamaze mydatto mydissent myeffect myfritz mymediapc mypsx myradweb mysecuritycamera myspreadshop mysynology
        net nhlfan no-ip now-dns office-on-the oninferno opik ownip pgafan podzone privatizehealthinsurance rackmaze
        net redirectme reserve-online routingthecloud ru schokokeks scrapper-site se seidat selfip sells-it senseering
        net servebbs serveblog serveftp serveminecraft server-on shopselect siteleaf spryt square7 squares static-access
        net subsc-pay supabase sytes thruhere torproject trafficmanager ts tunnelmole twmail uk uni5 usgovcloudapp
        net usgovtrafficmanager vpndns vps-host vusercontent webhop yandexcloud za zabc
        net.atlassian-dev.prod cdn
        net.azurestaticapps 1 2 3 4 5 6 7 centralus eastasia eastus2 westeurope westus2
        net.azurewebsites australiacentral-01 australiacentral2-01 australiaeast-01 australiasoutheast-01 austriaeast-01
        net.azurewebsites belgiumcentral-01 brazilsouth-01 brazilsoutheast-01 canadacentral-01 canadaeast-01
        net.azurewebsites centralindia-01 centralus-01 centraluseuap-01 chilecentral-01 denmarkeast-01 eastasia-01
        net.azurewebsites eastasiastage-01 eastus-01 eastus2-01 eastus2euap-01 eastus3-01 francecentral-01
        net.azurewebsites francesouth-01 germanynorth-01 germanywestcentral-01 indiasouthcentral-01 indonesiacentral-01
        net.azurewebsites israelcentral-01 israelnorthwest-01 italynorth-01 japaneast-01 japanwest-01 jioindiacentral-01
        net.azurewebsites jioindiawest-01 koreacentral-01 koreasouth-01 malaysiawest-01 mexicocentral-01
        net.azurewebsites newzealandnorth-01 northcentralus-01 northcentralusstage-01 northeastus5-01 northeurope-01
        net.azurewebsites norwayeast-01 norwaywest-01 polandcentral-01 qatarcentral-01 southafricanorth-01
        net.azurewebsites southafricawest-01 southcentralus-01 southcentralus2-01 southeastasia-01 southeastus5-01
        net.azurewebsites southindia-01 spaincentral-01 swedencentral-01 swedensouth-01 switzerlandnorth-01
        net.azurewebsites switzerlandwest-01 taiwannorth-01 taiwannorthwest-01 uaecentral-01 uaenorth-01 uksouth-01
        net.azurewebsites ukwest-01 westcentralus-01 westeurope-01 westindia-01 westus-01 westus2-01 westus3-01
        net.azurewebsites.p *
        net.cdn77 r
        net.channelsdvr u
        net.cloudflare cdn
        net.cloudflareanycast cdn
        net.cloudflarecn cdn
        net.cloudflareglobal cdn
        net.cloudjiffy fra1-de west1-us
        net.deno sandbox
        net.elastx jls-sto1 jls-sto2 jls-sto3
        net.fastly freetls map
        net.fastly.prod a global
        net.fastly.ssl a b global
        net.fastlylb map
        net.hrsn vps
        net.icp *
        net.localto *
        net.massivegrid.paas fr-1 lon-1 lon-2 ny-1 ny-2 sg-1
        net.mynetname sn
        net.ovh.hosting *
        net.ovh.webpaas *
        net.saveincloud jelastic nordeste-idc
        net.scaleforce j
        net.srcf soc user
        net.torproject pages
        net.ts.c *
        net.usgovcloudapi servicebus
        net.usgovcloudapi.core blob file web
        net.vps-host.jelastic atl njs ric
        net.windows servicebus
        net.windows.core blob file web
        net.yandexcloud storage website
        network aem appwrite arvo azimuth co tlon
        network.alces *
        new.builtwithrocket *
        news noticeable
        nf arts com firm info net other per rec store web
        ng biz col com edu firm gen gov i ltd mil mobi name net ngo org plc sch
        ng.biz co dl go lg on
        ni ac biz co com edu gob in info int mil net nom org web
        nl 123website cistron co demon gov hosting-cluster khplay myspreadshop
        nl.hosting-cluster site
        nl.transurl *
        no 123hjemmeside aa aarborte aejrie afjord agdenes ah aknoluokta akrehamn al alaheadju alesund algard alstahaug
        no alta alvdal amli amot andasuolo andebu andoy ardal aremark arendal arna aseral asker askim askoy askvoll
        no asnes audnedal aukra aure aurland aurskog-holand austevoll austrheim averoy badaddja bahcavuotna bahccavuotna
        no baidar bajddar balat balestrand ballangen balsfjord bamble bardu barum batsfjord bearalvahki beardu beiarn
        no berg bergen berlevag bievat bindal birkenes bjerkreim bjugn bodo bokn bomlo bremanger bronnoy bronnoysund
        no brumunddal bryne bu budejju bygland bykle cahcesuolo co davvenjarga davvesiida deatnu dep dielddanuorri
        no divtasvuodna divttasvuotna donna dovre drammen drangedal drobak dyroy egersund eid eidfjord eidsberg eidskog
        no eidsvoll eigersund elverum enebakk engerdal etne etnedal evenassi evenes evje-og-hornnes farsund fauske fedje
        no fet fetsund fhs finnoy fitjar fjaler fjell fla flakstad flatanger flekkefjord flesberg flora floro fm
        no folkebibl folldal forde forsand fosnes frana fredrikstad frogn froland frosta froya fuoisku fuossko fusa
        no fylkesbibl fyresdal gaivuotna galsa gamvik gangaviika gaular gausdal giehtavuoatna gielda gildeskal giske
        no gjemnes gjerdrum gjerstad gjesdal gjovik gloppen gol gran grane granvin gratangen grimstad grong grue gulen
        no guovdageaidnu ha habmer hadsel hagebostad halden halsa hamar hamaroy hammarfeasta hammerfest hapmir haram
        no hareid harstad hasvik hattfjelldal haugesund hemne hemnes hemsedal herad hitra hjartdal hjelmeland hl hm
        no hobol hof hokksund hol hole holmestrand holtalen honefoss hornindal horten hoyanger hoylandet hurdal hurum
        no hvaler hyllestad ibestad idrett inderoy iveland ivgu jan-mayen jessheim jevnaker jolster jondal jorpeland
        no kafjord karasjohka karasjok karlsoy karmoy kautokeino kirkenes klabu klepp kommune kongsberg kongsvinger
        no kopervik kraanghke kragero kristiansand kristiansund krodsherad krokstadelva kvafjord kvalsund kvam kvanangen
        no kvinesdal kvinnherad kviteseid kvitsoy laakesvuemie lahppi langevag lardal larvik lavagis lavangen
        no leangaviika lebesby leikanger leirfjord leirvik leka leksvik lenvik lerdal lesja levanger lier lierne
        no lillehammer lillesand lindas lindesnes loabat lodingen lom loppa lorenskog loten lund lunner luroy luster
        no lyngdal lyngen malatvuopmi malselv malvik mandal marker marnardal masfjorden masoy matta-varjjat meland
        no meldal melhus meloy meraker midsund midtre-gauldal mil mjondalen mo-i-rana moareke modalen modum molde
        no mosjoen moskenes moss mr muosat museum myspreadshop naamesjevuemie namdalseid namsos namsskogan nannestad
        no naroy narviika narvik naustdal navuotna nedre-eiker nesna nesodden nesoddtangen nesseby nesset nissedal
        no nittedal nl nord-aurdal nord-fron nord-odal norddal nordkapp nordre-land nordreisa nore-og-uvdal notodden
        no notteroy nt odda of oksnes ol omasvuotna oppdal oppegard orkanger orkdal orland orskog orsta osen oslo osoyro
        no osteroy ostre-toten overhalla ovre-eiker oyer oygarden oystre-slidre porsanger porsangu porsgrunn priv rade
        no radoy rahkkeravju raholt raisa rakkestad ralingen rana randaberg rauma re rendalen rennebu rennesoy rindal
        no ringebu ringerike ringsaker risor rissa rl roan rodoy rollag romsa romskog roros rost royken royrvik ruovat
        no rygge salangen salat saltdal samnanger sandefjord sandnes sandnessjoen sandoy sarpsborg sauda sauherad sel
        no selbu selje seljord sf siellak sigdal siljan sirdal skanit skanland skaun skedsmo skedsmokorset ski skien
        no skierva skiptvet skjak skjervoy skodje slattum smola snaase snasa snillfjord snoasa sogndal sogne sokndal
        no sola solund somna sondre-land songdalen sor-aurdal sor-fron sor-odal sor-varanger sorfold sorreisa sortland
        no sorum spjelkavik spydeberg st stange stat stathelle stavanger stavern steigen steinkjer stjordal
        no stjordalshalsen stokke stor-elvdal stord stordal storfjord strand stranda stryn sula suldal sund sunndal
        no suohkan surnadal svalbard sveio svelvik sykkylven tana tananger time tingvoll tinn tjeldsund tjielte tjome tm
        no tokke tolga tonsberg torsken tr trana tranby tranoy troandin trogstad tromsa tromso trondheim trysil
        no tvedestrand tydal tynset tysfjord tysnes tysvar uenorge ullensaker ullensvang ulstein ulvik unjarga utsira va
        no vaapste vadso vaga vagan vagsoy vaksdal valle vang vanylven vardo varggat varoy vefsn vega vegarshei vennesla
        no verdal verran vestby vestnes vestre-slidre vestre-toten vestvagoy vevelstad vf vgs vik vikna vindafjord
        no voagat volda voss vossevangen xn--andy-ira xn--asky-ira xn--aurskog-hland-jnb xn--avery-yua xn--bdddj-mrabd
        no xn--bearalvhki-y4a xn--berlevg-jxa xn--bhcavuotna-s4a xn--bhccavuotna-k7a xn--bidr-5nac xn--bievt-0qa
        no xn--bjddar-pta xn--blt-elab xn--bmlo-gra xn--bod-2na xn--brnny-wuac xn--brnnysund-m8ac xn--brum-voa
        no xn--btsfjord-9za xn--davvenjrga-y4a xn--dnna-gra xn--drbak-wua xn--dyry-ira xn--eveni-0qa01ga xn--finny-yua
        no xn--fjord-lra xn--fl-zia xn--flor-jra xn--frde-gra xn--frna-woa xn--frya-hra xn--ggaviika-8ya47h
        no xn--gildeskl-g0a xn--givuotna-8ya xn--gjvik-wua xn--gls-elac xn--h-2fa xn--hamary-fya xn--hbmer-xqa
        no xn--hcesuolo-7ya35b xn--hgebostad-g3a xn--hmmrfeasta-s4ac xn--hnefoss-q1a xn--hobl-ira xn--holtlen-hxa
        no xn--hpmir-xqa xn--hyanger-q1a xn--hylandet-54a xn--indery-fya xn--jlster-bya xn--jrpeland-54a xn--karlsy-fya
        no xn--karmy-yua xn--kfjord-iua xn--klbu-woa xn--koluokta-7ya57h xn--krager-gya xn--kranghke-b0a
        no xn--krdsherad-m8a xn--krehamn-dxa xn--krjohka-hwab49j xn--ksnes-uua xn--kvfjord-nxa xn--kvitsy-fya
        no xn--kvnangen-k0a xn--l-1fa xn--laheadju-7ya xn--langevg-jxa xn--ldingen-q1a xn--leagaviika-52b xn--lesund-hua
        no xn--lgrd-poac xn--lhppi-xqa xn--linds-pra xn--loabt-0qa xn--lrdal-sra xn--lrenskog-54a xn--lt-liac
        no xn--lten-gra xn--lury-ira xn--mely-ira xn--merker-kua xn--mjndalen-64a xn--mlatvuopmi-s4a xn--mli-tla
        no xn--mlselv-iua xn--moreke-jua xn--mosjen-eya xn--mot-tla xn--msy-ula0h xn--mtta-vrjjat-k7af xn--muost-0qa
        no xn--nmesjevuemie-tcba xn--nry-yla5g xn--nttery-byae xn--nvuotna-hwa xn--oppegrd-ixa xn--ostery-fya
        no xn--osyro-wua xn--porsgu-sta26f xn--rady-ira xn--rdal-poa xn--rde-ula xn--rdy-0nab xn--rennesy-v1a
        no xn--rhkkervju-01af xn--rholt-mra xn--risa-5na xn--risr-ira xn--rland-uua xn--rlingen-mxa xn--rmskog-bya
        no xn--rros-gra xn--rskog-uua xn--rst-0na xn--rsta-fra xn--ryken-vua xn--ryrvik-bya xn--s-1fa
        no xn--sandnessjen-ogb xn--sandy-yua xn--seral-lra xn--sgne-gra xn--skierv-uta xn--skjervy-v1a xn--skjk-soa
        no xn--sknit-yqa xn--sknland-fxa xn--slat-5na xn--slt-elab xn--smla-hra xn--smna-gra xn--snase-nra
        no xn--sndre-land-0cb xn--snes-poa xn--snsa-roa xn--sr-aurdal-l8a xn--sr-fron-q1a xn--sr-odal-q1a
        no xn--sr-varanger-ggb xn--srfold-bya xn--srreisa-q1a xn--srum-gra xn--stjrdal-s1a xn--stjrdalshalsen-sqb
        no xn--stre-toten-zcb xn--tjme-hra xn--tnsberg-q1a xn--trany-yua xn--trgstad-r1a xn--trna-woa xn--troms-zua
        no xn--tysvr-vra xn--unjrga-rta xn--vads-jra xn--vard-jra xn--vegrshei-c0a xn--vestvgy-ixa6o xn--vg-yiab
        no xn--vgan-qoa xn--vgsy-qoa0j xn--vre-eiker-k8a xn--vrggt-xqad xn--vry-yla5g xn--yer-zna xn--ygarden-p1a
        no xn--ystre-slidre-ujb
        no.aa gs
        no.ah gs
        no.akershus nes
        no.bu gs
        no.buskerud nes
        no.fm gs
        no.hedmark os valer xn--vler-qoa
        no.hl gs
        no.hm gs
        no.hordaland os
        no.jan-mayen gs
        no.more-og-romsdal heroy sande
        no.mr gs
        no.nl gs
        no.nordland bo heroy xn--b-5ga xn--hery-ira
        no.nt gs
        no.of gs
        no.ol gs
        no.oslo gs
        no.ostfold valer
        no.rl gs
        no.sf gs
        no.st gs
        no.svalbard gs
        no.telemark bo xn--b-5ga
        no.tm gs
        no.tr gs
        no.va gs
        no.vestfold sande
        no.vf gs
        no.xn--mre-og-romsdal-qqb sande xn--hery-ira
        no.xn--stfold-9xa xn--vler-qoa
        now dyn here tmp
        np *
        nr biz com edu gov info net org
        nu enterprisecloud merseine mine shacknet
        nz ac cloudns co cri geek gen govt health iwi kiwi maori mil net org parliament school xn--mori-qsa
        om co com edu gov med museum net org pro
        one service website
        one.kin *
        online barsy book eero eero-stage heimdns leapcell websitebuilder
        orange tech
        org accesscam ae altervista barsy blogdns blogsite bmoattachments boldlygoingnowhere cable-modem camdvr cloudns
        org collegefan couchpotatofries ddnss dnsalias dnsdojo doesntexist dontexist doomdns dpdns dsmynas duckdns
        org dvrdns dynalias dyndns dynserv endofinternet endoftheinternet eu familyds fedorainfracloud fedorapeople
        org freeddns freedesktop from-me fspages game-host gotdns hatenadiary hepforge hk hobby-site homedns homeftp
        org homelinux homeunix hopto httpbin in-dsl in-vpn ip-dynamic is-a-bruinsfan is-a-candidate is-a-celticsfan
        org is-a-chef is-a-geek is-a-knight is-a-linux-user is-a-patsfan is-a-soxfan is-found is-local is-lost is-saved
        org is-very-bad is-very-evil is-very-good is-very-nice is-very-sweet isa-geek jpn js kicks-ass misconfused
        org mlbfan my-firewall myfirewall myftp mysecuritycamera mywire nflfan no-ip now-dns pimienta podzone poivron
        org potager pubtls read-books readmyblog routingthecloud roxa selfip sellsyourhome servebbs serveftp servegame
        org small-web spdns stuff-4-sale sweetpepper toolforge tunk tuxfamily twmail ufcfan us webhop webredirect
        org wmcloud wmflabs za zapto
        org.cdn77 c rsc
        org.cdn77-secure.origin ssl
        org.dyndns go home
        org.eu al asso at au be bg ca cd ch cn cy cz de dk edu ee es fi fr gr hr hu ie il in int is it jp kr lt lu lv me
        org.eu mk mt my net ng nl no nz pl pt ro ru se si sk tr uk us
        org.fedoraproject cloud
        org.fedoraproject.os app
        org.fedoraproject.stg.os app
        org.teckids s3
        org.wmcloud beta
        ovh nerdpol
        pa abo ac com edu gob ing med net nom org sld
        page aem codeberg deuxfleurs heyflow hlx mybox pdns plesk prvcy rocky statichost
        pe com edu gob mil net nom org
        pf com edu org
        pg *
        ph cloudns com edu gov i mil net ngo org
        photos framer
        pictures 1337
        pizza ngrok
        pk ac biz com edu fam gkp gob gog gok gop gos gov net org web
        pl agro aid art atm augustow auto babia-gora bedzin beep beskidy bialowieza bialystok bielawa bielsko bieszczady
        pl biz boleslawiec bydgoszcz bytom cfolks cieszyn co com czeladz czest dfirma dkonto dlugoleka ecommerce-shop
        pl edu elblag elk gda gdansk gdynia gliwice glogow gmina gniezno gorlice gov grajewo gsm homesklep ilawa info
        pl iqhs jaworzno jelenia-gora jgora kalisz karpacz kartuzy kaszuby katowice kazimierz-dolny kepno ketrzyn
        pl klodzko kobierzyce kolobrzeg konin konskowola krakow krasnik kutno lapy lebork leczna legnica lezajsk
        pl limanowa lodz lomza lowicz lubartow lubin lublin lukow mail malbork malopolska mazowsze mazury med media
        pl miasta mielec mielno mil mragowo myspreadshop naklo net nieruchomosci nom nowaruda nysa olawa olecko olkusz
        pl olsztyn opoczno opole org ostroda ostroleka ostrowiec ostrowwlkp pabianice pc pila pisz plock podhale
        pl podlasie polkowice pomorskie pomorze poniatowa powiat poznan priv prochowice pruszkow przeworsk pulawy radom
        pl rawa-maz realestate rel rybnik rzeszow sanok sdscloud sejny sex shop shoparena sieradz simplesite
        pl skierniewice sklep skoczow slask slupsk sopot sos sosnowiec stalowa-wola starachowice stargard suwalki
        pl swidnica swidnik swiebodzin swinoujscie szczecin szczytno szkola targi tarnobrzeg tgory tm torun tourism
        pl travel turek turystyka tychy unicloud ustka walbrzych warmia warszawa waw wegrow wielun wlocl wloclawek
        pl wodzislaw wolomin wroc wroclaw you2 zachpomor zagan zakopane zarow zgierz zgora zgorzelec
        pl.gov ap griw ic is kmpsp konsulat kppsp kwp kwpsp mup mw oia oirm oke oow oschr oum pa pinb piw po pr psp psse
        pl.gov pup rzgw sa sdn sko so sr starostwo ug ugim um umig upow uppo us uw uzs wif wiih winb wios witd wiw wkz
        pl.gov wsa wskr wsse wuoz wzmiuw zp zpisdn
        place co
        plus playit
        plus.playit with
        plus.playit.at *
        pm name own
        pn co edu gov net org
        pr ac biz com edu est gov info isla name net org pro prof
        pro aaa aca acct avocat bar barsy cloudns cpa eng jur keenetic law med ngrok recht
        ps com edu gov net org plo sec
        pt 123paginaweb com edu gov int net nome org publ
        pub barsy
        pub.id *
        pub.kin *
        pw cloudns gov x443
        py com coop edu gov mil net org
        qa com edu gov mil name net org sch
        re asso can com netlib
        reviews aem
        rip clan
        ro arts barsy co com firm info nom nt org rec shop store tm www
        rocks lima-city myddns stackit webspace
        rs ac barsy co edu gov in org ox
        rs.brendly shop
        ru ac adygeya bashkiria bir cbg com dagestan edu eurodir gov grozny int kalmykia kustanai marine mcdir mcpre mil
        ru mircloud mordovia msk myjino mytis na4u nalchik net nov org pp pyatigorsk ras spb vladikavkaz vladimir
        ru.cldmail hb
        ru.mcdir vps
        ru.myjino.hosting *
        ru.myjino.landing *
        ru.myjino.spectrum *
        ru.myjino.vps *
        run canva cloud development liara lovable needle onporter ravendb repl stackit val vercel wix
        run.appwrite *
        run.build *
        run.code *
        run.database *
        run.liara iran
        run.migration *
        run.val web
        rw ac co coop gov mil net org
        sa com edu gov med net org pub sch
        sb com edu gov net org
        sc com edu gov net org
        scot co gov me mygov org
        scot.gov service
        sd com edu gov info med net org tv
        se 123minsida a ac b bd brand c com d e f fh fhsk fhv g h i iopsys itcouldbewor k komforb kommunalforbund komvux
        se l lanbib m myspreadshop n naturbruksgymn o org p parti pp press r s t tm u w x y z
        services loginline
        sg com edu enscaled gov net org
        sh botda com gov hashbang lovable mil net now org surge teleport
        sh.platform ent eu us
        shop barsy barsyonline base hoplix shopware
        show ms
        si f5 gitpage
        site barsy byen caffeine chatgpt co convex cpanel cyon fastvps figma figma-gov heyflow jele jouwweb loginline
        site madethis notion novecore omniwe opensocial piebox playcode preview puter scw sol sourcecraft square srht
        site support wpsquared
        site.canva my
        site.cloudera *
        site.convex eu-west-1 us-east-1
        site.platformsh *
        site.scw ams waw
        site.tst *
        sk org
        sl com edu gov net org
        sn art com edu gouv org univ
        so com edu gov me net org surveys
        space app-ionos deployagent heiyu hf myfast project uber vibehost xs4all
        space.hf static
        ss biz co com edu gov me net org sch
        st co com consulado edu embaixada helioho kirara mil net noho org principe saotome store
        st.cn *
        store barsy sellfy shopware storebase
        studio ai
        su abkhazia adygeya aktyubinsk arkhangelsk armenia ashgabad azerbaijan balashov bashkiria bryansk bukhara
        su chimkent dagestan east-kazakhstan exnet georgia grozny ivanovo jambyl kalmykia kaluga karacol karaganda
        su karelia khakassia krasnodar kurgan kustanai lenug mangyshlak mordovia msk murmansk nalchik navoi
        su north-kazakhstan nov obninsk penza pokrovsk sochi spb tashkent termez togliatti troitsk tselinograd tula tuva
        su vladikavkaz vladimir vologda
        support barsy
        sv com edu gob org red
        sx gov
        sy com edu gov mil net org
        systems miren
        sz ac co org
        team discourse jelastic
        tech cleverapps
        technology co
        tf sch
        th ac co go in mi net online or shop
        tj biz co com edu go gov int mil name net nic org test web
        tl gov
        tm co com edu gov mil net nom org
        tn com ens fin gov ind info intl mincom nat net orangecloud org perso tourism
        to 611 com edu gov mil net nett org vpnplus x0
        to.quickconnect direct
        today prequalifyme
        tools myaddr
        tools.addr dyn
        top ntdll
        top.wadl *
        tr av bbs bel biz com dr edu gen gov info k12 kep mil name nc net org pol tel tsk tv web
        tr.nc gov
        tt biz co com edu gov info mil name net org pro
        tv better-than dyndns from on-the-web sakura worse-than
        tw club com ebiz edu game gov idv mil mydns net org url
        tw.com mymailer
        tz ac co go hotel info me mil mobi ne or sc tv
        ua biz cc cherkassy cherkasy chernigov chernihiv chernivtsi chernovtsy ck cn co com cr crimea cv cx dn
        ua dnepropetrovsk dnipropetrovsk donetsk dp edu gov if in inf ivano-frankivsk kh kharkiv kharkov kherson
        ua khmelnitskiy khmelnytskyi kiev kirovograd km kr kropyvnytskyi krym ks kv kyiv lg lt ltd lugansk luhansk lutsk
        ua lv lviv mk mykolaiv net nikolaev od odesa odessa org pl poltava pp rivne rovno rv sb sebastopol sevastopol sm
        ua sumy te ternopil uz uzhgorod uzhhorod v vinnica vinnytsia vn volyn yalta zakarpattia zaporizhzhe zaporizhzhia
        ua zhitomir zhytomyr zp zt
        ug ac co com edu go gov mil ne or org sc us
        uk ac barsy co conn copro gov hosp independent-commission independent-inquest independent-inquiry
        uk independent-panel independent-review ltd me net nhs nimsite org plc police public-inquiry pymnt
        uk royal-commission
        uk.co adimo barsy barsyonline myspreadshop nh-serv no-ip
        uk.co.layershift j
        uk.co.retrosnub cust
        uk.gov api campaign service
        uk.oraclegovcloudapps *
        uk.org affinitylottery glug lug lugs raffleentry weeklylottery
        uk.sch *
        us ak al ar as az azure-api azurewebsites ca cloudns co ct dc de dni fl freeddns ga golffan gu heliohost hi ia
        us id il in is-by isa ks ky la land-4-sale ma md me mi mircloud mn mo ms mt nc nd ne ngo nh nj nm noip nsn nv ny
        us oh ok or pa pointto pr ri sc sd servername srv stuff-4-sale tn tx ut va vi vt wa wi wv wy
        us.ak cc k12 lib
        us.al cc k12 lib
        us.ar cc k12 lib
        us.as cc k12 lib
        us.az cc k12 lib
        us.ca cc k12 lib
        us.co cc k12 lib
        us.ct cc k12 lib
        us.databricksapps aws-gov
        us.dc cc k12 lib
        us.de cc
        us.enscaled phx
        us.fl cc k12 lib
        us.ga cc k12 lib
        us.gu cc k12 lib
        us.hi cc lib
        us.ia cc k12 lib
        us.id cc k12 lib
        us.il cc k12 lib
        us.in cc k12 lib
        us.ks cc k12 lib
        us.ky cc k12 lib
        us.la cc k12 lib
        us.ma cc k12 lib
        us.ma.k12 chtr paroch pvt
        us.md cc k12 lib
        us.me cc k12 lib
        us.mi ann-arbor cc cog dst eaton gen k12 lib mus tec washtenaw
        us.mn cc k12 lib
        us.mo cc k12 lib
        us.ms cc k12
        us.mt cc k12 lib
        us.nc cc k12 lib
        us.ne cc k12 lib
        us.nh cc k12 lib
        us.nj cc k12 lib
        us.nm cc k12 lib
        us.nv cc k12 lib
        us.ny cc k12 lib
        us.oh cc k12 lib
        us.ok cc k12 lib
        us.or cc k12 lib
        us.pa cc k12 lib
        us.pr cc k12 lib
        us.ri cc lib
        us.sc cc k12 lib
        us.sd cc lib
        us.srv gh gl
        us.tn cc k12 lib
        us.tx cc k12 lib
        us.ut cc k12 lib
        us.va cc k12 lib
        us.vi cc k12 lib
        us.vt cc k12 lib
        us.wa aberdeen bainbridge-isl bellevue bremerton cc centralia chehalis forks gig-harbor hoquiam k12 keyport
        us.wa kingston lib olympia port-angeles port-ludlow port-orchard port-townsend poulsbo redmond renton sea
        us.wa seattle sequim shelton silverdale yarrow-point
        us.wi cc k12 lib
        us.wv cc
        us.wy cc k12 lib
        uy com edu gub gv mil net org
        uz co com net org
        vc com edu gov gv mil mydns net org
        vc.0e *
        vc.gv d
        ve arts bib co com e12 edu emprende firm gob gov ia info int mil net nom org rar rec store tec web
        vg edu
        vi co com k12 net org
        vip hidns
        vn ac ai angiang bacgiang backan baclieu bacninh baria-vungtau bentre binhdinh binhduong binhphuoc binhthuan biz
        vn camau cantho caobang com daklak daknong danang dienbien dongnai dongthap edu gialai gov hagiang haiduong
        vn haiphong hanam hanoi hatinh haugiang health hoabinh hue hungyen id info int io khanhhoa kiengiang kontum
        vn laichau lamdong langson laocai longan namdinh name net nghean ninhbinh ninhthuan org phutho phuyen pro
        vn quangbinh quangnam quangngai quangninh quangtri soctrang sonla tayninh thaibinh thainguyen thanhhoa
        vn thanhphohochiminh thuathienhue tiengiang travinh tuyenquang vinhlong vinhphuc yenbai
        vu com edu net org
        website framer
        wf biz sch
        wiki framer
        work imagine-proxy puter
        ws cloud66 com dyndns edu gov mypets net org
        ws.advisor *
        wtf ddns
        xn--4dbrk0ce xn--4dbgdty6c xn--5dbhl8d xn--8dbq2a xn--hebda8b
        xn--90a3ac xn--80au xn--90azh xn--c1avg xn--d1at xn--o1ac xn--o1ach
        xn--j6w193g xn--55qx5d xn--gmqw5a xn--mxtq1m xn--od0alg xn--uc0atv xn--wcvs22d
        xn--o3cw4h xn--12c1fe0br xn--12cfi8ixb8l xn--12co0c3b4eva xn--h3cuzk1di xn--m3ch0j3a xn--o3cyx2a
        xn--p1acf xn--41a xn--80aaa0cvac xn--90a1af xn--90amc xn--c1avg xn--h1ahn xn--h1aliz xn--j1adp xn--j1aef
        xn--p1acf xn--j1ael8b
        xyz botdash caffeine exe opentunnel
        xyz.telebit *
        ye com edu gov mil net org
        yt org
        za ac agric alt co edu gov grondar law mil net ngo nic nis nom org school tm web
        zm ac biz co com edu gov info mil net org sch
        zone lima prg1-zerops stackit
        zone.triton *
        zone.zerops *
        zw ac co gov mil org
        """
}
