/** Commands that run the service or work on its database: in the checkout and in the image. */
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { accounts } from './commands/accounts.ts';
import { apiKeys } from './commands/api-keys.ts';
import { audit } from './commands/audit.ts';
import { agents, config } from './commands/check.ts';
import { doctor } from './commands/doctor.ts';
import { installation } from './commands/installation.ts';
import { keys } from './commands/keys.ts';
import { dev, migrate, server, start, worker } from './commands/start.ts';
import { toolsBuild } from './commands/tools-build.ts';
import { test } from './commands/test.ts';
import { tools } from '@interlude-ai/program/commands/tools.ts';
import { cancel, questions, turn, turns } from './commands/turns.ts';
import { users } from './commands/users.ts';
import { versions } from './commands/versions.ts';

export function serviceCommands(): CommandUnknownOpts[] {
  return [
    start(),
    dev(),
    server(),
    worker(),
    migrate(),
    doctor(),
    turns(),
    turn(),
    questions(),
    cancel(),
    audit(),
    agents(),
    config(),
    test(),
    tools(toolsBuild()),
    apiKeys(),
    accounts(),
    users(),
    keys(),
    versions(),
    installation(),
  ];
}
