/** `npm run api-key -- --tenant <tenant>`: makes a key for a service and prints it, nothing else, on stdout. */
import { parseArgs } from 'node:util';
import { createApiKey } from '../src/api/api-keys.ts';
import { loadConfig } from '../src/config.ts';
import { openStorage } from '../src/storage/database.ts';

try {
  const { values } = parseArgs({ options: { tenant: { type: 'string' } } });
  if (!values.tenant) throw new Error('Say for which tenant: npm run api-key -- --tenant demo');
  const storage = await openStorage(loadConfig(process.env, process.cwd()).database);
  try {
    console.log(await createApiKey(storage, values.tenant));
  } finally {
    await storage.close();
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
