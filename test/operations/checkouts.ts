/** Other releases of this checkout: copies of it whose workflow code cannot replay the histories of any other. */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface Checkout {
  name: string;
  root: string;
}

const root = path.resolve(import.meta.dirname, '../..');

export const thisCheckout: Checkout = { name: 'this', root };

/** What the program needs to run, and to build what it runs. */
const parts = [
  'src',
  'packages',
  'scripts',
  'demo',
  'test/fixtures',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];
/** Files of workflows that a turn or its deliveries run. */
const workflows = {
  'agent-turn.ts': ['agentTurn'],
  'deliveries.ts': ['slackDelivery', 'pushNotifications'],
};

/** The copy with this number begins its workflows with as many commands that no other has in that place. */
export function createCheckout(number: number): Checkout & Disposable {
  const copy = copySources(`interlude-checkout-${number}-`);
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  for (const [file, names] of Object.entries(workflows))
    addCommands(path.join(copy, 'src/workflows', file), names, number);
  return built(`copy ${number}`, copy);
}

/** Its workers find the bundle made, as in an image. */
function built(name: string, copy: string): Checkout & Disposable {
  execFileSync(process.execPath, ['scripts/build-workflows.ts'], { cwd: copy, stdio: 'pipe' });
  return { name, root: copy, [Symbol.dispose]: () => rmSync(copy, { recursive: true, force: true }) };
}

function copySources(prefix: string): string {
  const copy = mkdtempSync(path.join(tmpdir(), prefix));
  for (const part of parts) {
    mkdirSync(path.dirname(path.join(copy, part)), { recursive: true });
    cpSync(path.join(root, part), path.join(copy, part), { recursive: true });
  }
  return copy;
}

/** The same sources with another version of Temporal's SDK, which is installed for it. */
export function createCheckoutWithSdk(version: string): Checkout & Disposable {
  const copy = copySources(`interlude-sdk-${version}-`);
  const packages = path.join(copy, 'node_modules');
  const sdk = path.join(copy, 'sdk');
  mkdirSync(sdk);
  writeFileSync(path.join(sdk, 'package.json'), '{ "private": true }');
  const names = ['activity', 'client', 'common', 'worker', 'workflow'];
  const wanted = [...names.map((name) => `@temporalio/${name}@${version}`), 'protobufjs@8.8.1'];
  execFileSync('npm', ['install', '--no-audit', '--no-fund', ...wanted], { cwd: sdk, stdio: 'pipe' });
  mkdirSync(packages);
  for (const name of readdirSync(path.join(root, 'node_modules')))
    if (name !== '@temporalio') symlinkSync(path.join(root, 'node_modules', name), path.join(packages, name));
  symlinkSync(path.join(sdk, 'node_modules/@temporalio'), path.join(packages, '@temporalio'));
  return built(`SDK ${version}`, copy);
}

function addCommands(file: string, workflows: string[], count: number): void {
  const command = '  addMemo({ changed: true });\n';
  let changed = readFileSync(file, 'utf8');
  for (const workflow of workflows) {
    const start = new RegExp(String.raw`(export async function ${workflow}\([^)]*\)[^{]*\{\n)`);
    if (!start.test(changed)) throw new Error(`${file} has no workflow ${workflow}`);
    changed = changed.replace(start, (found) => found + command.repeat(count));
  }
  writeFileSync(file, `${changed}\nimport { upsertMemo as addMemo } from '@temporalio/workflow';\n`);
}

/** The checkout of a commit, built as its own, with the agents of these tests. */
export function createCheckoutOf(commit: string): Checkout & Disposable {
  const copy = mkdtempSync(path.join(tmpdir(), 'interlude-baseline-'));
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x'], { cwd: copy, input: archive });
  const lockfile = (folder: string) => readFileSync(path.join(folder, 'package-lock.json'), 'utf8');
  if (lockfile(copy) === lockfile(root))
    symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: copy, stdio: 'pipe' });
  for (const fixture of ['operations-agents.yaml', 'operations-tools'])
    cpSync(path.join(root, 'test/fixtures', fixture), path.join(copy, 'test/fixtures', fixture), {
      recursive: true,
    });
  // Tools were imported from another name before there were packages.
  const tools = path.join(copy, 'test/fixtures/operations-tools');
  if (!existsSync(path.join(copy, 'packages/tools')))
    for (const file of readdirSync(tools)) {
      const code = readFileSync(path.join(tools, file), 'utf8');
      writeFileSync(path.join(tools, file), code.replaceAll('@interlude-ai/tools', 'interlude/tools'));
    }
  return built(`commit ${commit.slice(0, 12)}`, copy);
}
