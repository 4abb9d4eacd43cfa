/** A rollback asks which versions have started and are not current yet. Null: an API, or Temporal decides. */
export const versionsOfProcesses = `
alter table processes add column build_id text;
`;
