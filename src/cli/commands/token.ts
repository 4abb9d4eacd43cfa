/** `interlude token alice`: an access token for a user of the demo, for curl. Nothing else goes to stdout. */
import { demoToken } from '../../development/demo-token.ts';
import { defineCommand } from '../command.ts';
import { print } from '../terminal-text.ts';

export const token = defineCommand({
  arguments: ['<user>'],
  options: {},
  details: 'Users of the demo are alice and bob. DEMO_IDENTITY_PORT says where its sign-in listens (3001).',
  async run(_, [user = '']) {
    if (process.env['AUTH_ISSUER'])
      throw new Error(
        'AUTH_ISSUER is set, so tokens come from your own issuer; the demo can only make its own.',
      );
    const port = process.env['DEMO_IDENTITY_PORT'] ?? '3001';
    print(`${await demoToken(`http://127.0.0.1:${port}`, user)}\n`);
  },
});
