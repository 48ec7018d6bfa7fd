tracker.data.add("nights",{"id":[1,1,1],"time":[1790038800,86400,86400],"page":{
"3":"nights/2026-09-24-lab-b3f9c4ad.html",
"2":"nights/2026-09-23-lab-ed573106.html",
"1":"nights/2026-09-22-lab-3c3aff75.html"}});
