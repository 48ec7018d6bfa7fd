tracker.data.add("environments",{
"1":"",
"2":"governor powersave → performance"});
