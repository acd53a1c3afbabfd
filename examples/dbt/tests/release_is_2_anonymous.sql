-- rows of this query are failures: descriptions that fewer than two people share
select age, sex, zip, count(*) as people
from {{ ref('release') }}
group by age, sex, zip
having count(*) < 2
