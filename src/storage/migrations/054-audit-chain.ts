/** Places of audit entries in their tenant's chain: see ../tables/audit-chain.ts. */
export const auditChain = `
alter table audit add column position bigint;
create index audit_unsealed on audit (at, id) where position is null;
create unique index audit_of_position on audit (tenant, position) where position is not null;
create table audit_chain (
  tenant text not null,
  position bigint not null,
  sealed_at bigint not null,
  hash text not null,
  chain text not null,
  primary key (tenant, position)
);
`;
