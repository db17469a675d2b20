-- The cell that this database is, and the ranges of its numbers. Reasons: docs/decisions/0037-cells.md.
alter table installation add column cell smallint not null default 0;

-- Every database so far is cell 0. `perennial cell init` sets the ranges of others.
alter sequence order_numbers maxvalue 99999999999000;
alter sequence agreement_numbers maxvalue 99999999999999;
alter sequence event_numbers maxvalue 99999999999999;
alter sequence channels_channel_id_seq maxvalue 9999999;
