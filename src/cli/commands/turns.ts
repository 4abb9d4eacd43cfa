/**
 * `interlude turns | turn | questions | cancel`, for operators. They work on the database with the environment of a process; there
 * is no role to check, because they hold the keys of the database.
 */
import { Command, Option } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { count, duration } from '@interlude-ai/kit/terminal/command.ts';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import type { TurnState } from '../../service/operators.ts';

const tenant = new Option('--tenant <tenant>', 'of this tenant only');
const user = new Option('--user <user>', 'of this user only');
const agent = new Option('--agent <agent>', 'of this agent only');
const limit = new Option('--limit <number>', 'how many at most').argParser(count).default(50);
/** Those of `contract/operators.ts`, which would bring zod along; the compiler names one that is missing. */
const states = Object.keys({
  waiting: true,
  working: true,
  cancelling: true,
  completed: true,
  failed: true,
  cancelled: true,
  superseded: true,
} satisfies Record<TurnState, true>) as TurnState[];
const statuses = ['pending', 'accept', 'decline', 'cancel', 'expired', 'all'] as const;

export function turns(): CommandUnknownOpts {
  return new Command('turns')
    .description('list the turns of all users, and what they wait for')
    .addOption(tenant)
    .addOption(user)
    .addOption(agent)
    .option('--server <server>', 'that called this server, or delegated to this agent')
    .option('--older <duration>', 'accepted longer ago than that, like 10m', duration)
    .option('--newer <duration>', 'accepted no longer ago than that, like 24h', duration)
    .addOption(limit)
    .option('--service <service>', 'of this service only: of its API keys, where they call for no user')
    .addOption(new Option('--state <state>', 'in this state only').choices(states))
    .addHelpText('after', `\nNewest first. ${ourCommand('turn <id>')} shows what happened in one.`)
    .action(async (given) => {
      const { listTurns } = await import('../operators.ts');
      await listTurns(given);
    });
}

export function questions(): CommandUnknownOpts {
  return new Command('questions')
    .description('list the open questions of all users')
    .addOption(tenant)
    .addOption(user)
    .addOption(agent)
    .option('--server <server>', 'of this server only')
    .option('--older <duration>', 'asked longer ago than that, like 10m', duration)
    .option('--newer <duration>', 'asked no longer ago than that, like 24h', duration)
    .addOption(limit)
    .addOption(new Option('--status <status>', 'in this state').choices(statuses).default('pending' as const))
    .addHelpText('after', '\nNewest first.')
    .action(async (given) => {
      const { listQuestions } = await import('../operators.ts');
      await listQuestions(given);
    });
}

export function turn(): CommandUnknownOpts {
  return new Command('turn')
    .description('show what happened in a turn')
    .argument('<id>', 'the first eight characters are enough; readable log lines show them')
    .option('--contents', 'also show what was said, called and answered; the audit records it')
    .action(async (id, { contents = false }) => {
      const { showTurn } = await import('../operators.ts');
      await showTurn(id, contents);
    });
}

export function cancel(): CommandUnknownOpts {
  return new Command('cancel')
    .description('cancel a turn, or expire a question')
    .argument('<turn or question>')
    .addHelpText(
      'after',
      `
A turn is cancelled, and its open questions close. A question expires, and its
turn goes on without an answer.`,
    )
    .action(async (id) => {
      const { cancelOrExpire } = await import('../operators.ts');
      await cancelOrExpire(id);
    });
}
