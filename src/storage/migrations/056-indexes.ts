/**
 * Pages of an owner's turns count all of them, so they need no index for their order: `turns_of_user` finds them. The newest
 * list of tools that a tenant may share is found without reading those of all its users.
 */
export const indexes = `
drop index turns_of_owner;
create index tool_catalogue_shared on tool_catalogue (tenant, server, updated_at) where audience = 'tenant';
`;
