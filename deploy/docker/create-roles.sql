-- For psql, before ../roles.sql: creates the roles if they are missing, and sets the password of the nodes' role.
\getenv password POSTGRES_SERVICE_PASSWORD
select format('create role %I login', name) from unnest(array[:'service', :'reports']) as name
where to_regrole(quote_ident(name)) is null \gexec
alter role :"service" password :'password';
