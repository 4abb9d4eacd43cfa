/** A second workspace, T2, of the same tenant as T1. Its user U1 is bob, with the same id as alice in T1. */
import { parseKeys } from '../../../src/credentials/sealing/key-ring.ts';
import { slackTokenContext } from '../../../src/credentials/sealing/sealed-values.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { someKeys } from '../../e2e/deployment.ts';
import type { SlackServer } from '../../servers/slack/slack-server.ts';

/** For a service that has the keys `someKeys`. */
export async function addGlobex(
  slack: SlackServer,
  { installations, people }: Storage['slack'],
): Promise<void> {
  const globex = slack.addWorkspace('T2', 'Globex');
  globex.addUser('U1');
  await installations.put({
    team: 'T2',
    teamName: 'Globex',
    tenant: 'demo',
    botUser: globex.botUser,
    scopes: '',
    installedBy: null,
    sealed: parseKeys(someKeys).seal(globex.botToken, slackTokenContext('T2')),
  });
  await people.link({ team: 'T2', slackUser: 'U1', tenant: 'demo', user: 'bob', linkedAt: 1 });
}
