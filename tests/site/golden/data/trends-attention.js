tracker.data.add("trends",{"devices":[
{"panels":[
{"lines":[{"time":[1790038800,86400,86400],"index":[10000,0,2195]}]}],"marks":[]}]});
