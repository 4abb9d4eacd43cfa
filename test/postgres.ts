import { fromGlobalSetup } from './setup/shared.ts';

/** A fresh, empty PostgreSQL database, gone at the end of the run. */
export function postgresUrl(): Promise<string> {
  return fromGlobalSetup('/database');
}
