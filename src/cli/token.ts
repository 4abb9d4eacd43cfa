/** `npm run token -- alice`: prints an access token for a user of the demo, for curl. Nothing else goes to stdout. */
import { demoToken } from '../../demo/identity-token.ts';

const [user] = process.argv.slice(2);
const port = process.env['DEMO_IDENTITY_PORT'] ?? '3001';

try {
  if (user === undefined) throw new Error('Say for whom: npm run token -- alice');
  if (process.env['AUTH_ISSUER']) {
    throw new Error(
      'AUTH_ISSUER is set, so tokens come from your own issuer; the demo can only make its own.',
    );
  }
  console.log(await demoToken(`http://127.0.0.1:${port}`, user));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
