/** `init <folder>`: asks at a terminal what is not given as an option, writes the folder, and installs its packages. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { CANCEL_SYMBOL } from '@clack/prompts';
import { cancel, confirm, isCancel, password, select, text } from '@clack/prompts';
import { Command } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { UsageError } from '@interlude-ai/kit/terminal/command.ts';
import { print } from '@interlude-ai/kit/terminal/terminal-text.ts';
import { keyVariableOf, modelProblem, serverProblem, signInProblem } from './choices.ts';
import type { Choices } from './choices.ts';
import { requireEmpty, requireNode, writeProject } from './project.ts';

/** A question, and the option that answers it. */
interface Asked {
  option: string;
  message: string;
  initial: string;
  problem: (value: string) => string | undefined;
}

const folderName = 'my-agents';
const otherModel = '@ai-sdk/google:gemini-2.5-pro';

const model: Asked = {
  option: '--model',
  message: 'Which one? A package of the AI SDK and its model',
  initial: 'scripted',
  problem: modelProblem,
};
const models = [
  { value: 'scripted', label: 'none yet', hint: 'a script answers, without a key' },
  { value: 'openai:gpt-5', label: 'openai:gpt-5' },
  { value: 'anthropic:claude-sonnet-5', label: 'anthropic:claude-sonnet-5' },
  { value: 'other', label: 'another', hint: 'Google, Bedrock, Azure, OpenRouter, Ollama, …' },
];
const server: Asked = {
  option: '--server',
  message: 'The address of an MCP server whose tools the agent uses, or none',
  initial: 'none',
  problem: serverProblem,
};
const signIn: Asked = {
  option: '--sign-in',
  message: "Who signs in? demo: alice and bob on this machine; or your OpenID provider's address",
  initial: 'demo',
  problem: signInProblem,
};
const clientId: Asked = {
  option: '--client-id',
  message:
    'The id of the client that is registered there, with the redirect http://127.0.0.1:3000/auth/login/callback',
  initial: 'interlude',
  problem: (value) => (value === '' ? 'Write the id of the client.' : undefined),
};

export function init(): CommandUnknownOpts {
  return new Command('init')
    .description('make a folder with an agent, a tool that asks, and a test')
    .argument('[folder]', 'a new or empty folder; . is this one')
    .option(
      '--model <model>',
      'openai:gpt-5, @ai-sdk/google:gemini-2.5-pro, …, or scripted: a demo without a key',
    )
    .option('--server <url>', 'an MCP server whose tools the agent uses, or none')
    .option('--sign-in <issuer>', "your OpenID provider's address, or demo: alice and bob on this machine")
    .option('--client-id <id>', 'the client that is registered there')
    .option('--yes', 'ask nothing; take scripted, none and demo for what is not given')
    .option('--no-install', 'write the files only')
    .option('--start', 'start it then, as npm run dev does')
    .option(
      '--packages <folder>',
      'install from the tarballs in this folder, until the packages are published',
    )
    .addHelpText(
      'after',
      `
At a terminal it asks for what is not given. A model's key is taken from the
environment (OPENAI_API_KEY, …), or asked for and written to .env.`,
    )
    .action(async (named, { yes = false, install, start, packages, ...given }) => {
      requireNode();
      const folder = named ?? (await askForFolder(yes));
      const to = path.resolve(folder);
      await requireEmpty(to, folder);
      const ask = (asked: Asked, value: string | undefined) => answerTo(asked, value, yes);
      const choices: Choices = {
        model:
          given.model === undefined && !yes && process.stdin.isTTY
            ? await chooseModel()
            : await ask(model, given.model),
        server: await ask(server, given.server),
        issuer: await ask(signIn, given.signIn),
        clientId: undefined,
        key: undefined,
      };
      if (choices.issuer !== 'demo') choices.clientId = await ask(clientId, given.clientId);
      if (!yes) choices.key = await askForKey(choices.model);
      await writeProject(to, choices, packages === undefined ? undefined : path.resolve(packages));
      const enter = `cd ${/\s/.test(folder) ? `"${folder}"` : folder}`;
      print(`\nThe agents are in ${folder}.${install ? ' npm installs the packages …' : ''}\n`);
      if (install && !(await run('npm', ['install', '--no-fund', '--no-audit'], to))) {
        print(
          `\nnpm install has failed; what it said is above. The files are complete. Go on with:\n\n  ${enter}\n  npm install\n  npm run dev\n\n`,
        );
        process.exitCode = 1;
        return;
      }
      const lacking = lackingKey(choices);
      if (lacking !== undefined) print(`\nThe model needs a key: write ${lacking}=… into .env.\n`);
      const asks = install && !yes && lacking === undefined && process.stdin.isTTY;
      const isStarted = start ?? (asks && (await confirm({ message: 'Start it now?' })) === true);
      if (isStarted) await run('npm', ['run', 'dev'], to);
      else
        print(
          [
            '',
            `  ${enter}`,
            ...(install ? [] : ['  npm install']),
            `  npm run dev     ${choices.issuer === 'demo' ? 'the playground' : 'the service'}; what you change is active at once`,
            '  npm test        the test of the tool',
            '',
            '',
          ].join('\n'),
        );
    });
}

async function askForFolder(yes: boolean): Promise<string> {
  if (yes || !process.stdin.isTTY)
    throw new UsageError(`the folder is missing; name a new one, like ${folderName}.`);
  return orStop(
    await text({ message: 'In which new folder?', placeholder: folderName, defaultValue: folderName }),
  );
}

async function chooseModel(): Promise<string> {
  const chosen = orStop(await select({ message: 'Which model?', options: models }));
  return chosen === 'other' ? answerTo({ ...model, initial: otherModel }, undefined, false) : chosen;
}

async function answerTo(
  { option, message, initial, problem }: Asked,
  given: string | undefined,
  yes: boolean,
): Promise<string> {
  const value = given ?? (yes ? initial : undefined);
  if (value !== undefined) {
    const wrong = problem(value);
    if (wrong !== undefined) throw new UsageError(`${option}: ${wrong}`);
    return value;
  }
  if (!process.stdin.isTTY)
    throw new UsageError(
      `${option} is missing, and there is no terminal to ask at. Give it, or --yes for ${option} ${initial}.`,
    );
  const validate = (typed = '') => problem(typed === '' ? initial : typed);
  return orStop(await text({ message, placeholder: initial, defaultValue: initial, validate }));
}

/** Undefined if the model needs none, or it is in the environment. */
async function askForKey(model: string): Promise<string | undefined> {
  const variable = lackingKey({ model, key: undefined });
  if (variable === undefined || !process.stdin.isTTY) return undefined;
  const key = orStop(
    await password({ message: `The key of the model (${variable}; empty: later, in .env)` }),
  );
  return key === '' ? undefined : key;
}

/** The variable of the model's key, if it is needed and not known. */
function lackingKey({ model, key }: Pick<Choices, 'model' | 'key'>): string | undefined {
  const variable = keyVariableOf(model);
  return variable === undefined || key !== undefined || process.env[variable] ? undefined : variable;
}

function orStop<Value>(answer: Value | typeof CANCEL_SYMBOL): Value {
  if (!isCancel(answer)) return answer;
  cancel('Nothing was written.');
  process.exit(130);
}

async function run(program: string, words: string[], cwd: string): Promise<boolean> {
  const child = spawn(program, words, { cwd, stdio: 'inherit', shell: process.platform === 'win32' });
  // Ctrl+C reaches the program as well, which stops in order.
  const ignore = () => undefined;
  process.on('SIGINT', ignore);
  const [code] = (await once(child, 'close').catch(() => [1])) as [number | null];
  process.off('SIGINT', ignore);
  return code === 0;
}
