select 'rows differ' as failure
where (select count(*) from {{ ref('release') }}) <> (select count(*) from {{ ref('patients') }})
