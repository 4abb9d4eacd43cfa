/** The Temporal CLI, whose development server `npm start` and the end-to-end tests run. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { downloadWithSdk } from './sdk-download.mjs';
import { installInto, onPath, run, SetupError, timed } from './steps.mjs';
import { cacheFolder, pinnedVersion, readTools, rememberTools, root } from './tools.mjs';

const executable = process.platform === 'win32' ? 'temporal.exe' : 'temporal';
const version = pinnedVersion('temporal-cli/go.mod', /temporalio\/cli v(\S+)/);
/**
 * Newer than the CLI's own: before 1.42.2, a query whose caller had given up could leave the one connection to the
 * database interrupted for ever.
 */
const sqlite = pinnedVersion('temporal-cli/go.mod', /modernc.org\/sqlite v(\S+)/);
const folder = path.join(cacheFolder, `temporal-cli-${version}-sqlite-${sqlite}`);
const installed = path.join(folder, executable);

/** Says what it does while it downloads or builds it, which takes up to some minutes. */
export async function installTemporalCli() {
  const temporal = given() ?? onPath('temporal') ?? (await install());
  rememberTools({ temporal });
}

/** Its path; undefined if it has to be installed first. */
export function findTemporalCli() {
  const { temporal } = readTools();
  if (temporal !== undefined && existsSync(temporal)) return temporal;
  return given() ?? onPath('temporal') ?? (existsSync(installed) ? installed : undefined);
}

function given() {
  const file = process.env.TEMPORAL_CLI_PATH;
  if (!file) return undefined;
  if (existsSync(file)) return path.resolve(file);
  throw new SetupError(
    `TEMPORAL_CLI_PATH: there is no file ${file}; correct it, or unset it to have the CLI installed`,
  );
}

async function install() {
  await installInto(folder, async (draft) => {
    const file = path.join(draft, executable);
    if (await downloadWithSdk('temporal', version, file)) return;
    if (!onPath('go')) {
      throw new SetupError(
        `The Temporal CLI ${version} could not be downloaded, and there is no Go to build it with. One of these helps:\n` +
          '  • install the CLI (https://docs.temporal.io/cli) so that `temporal` is on PATH, or set TEMPORAL_CLI_PATH\n' +
          '  • install Go 1.21 or newer (https://go.dev/dl) and run the command again\n' +
          '  • set TEMPORAL_ADDRESS to a Temporal cluster you have; tests start a server of their own',
      );
    }
    const what = `building the Temporal CLI ${version} with Go (once, 2 to 5 minutes)`;
    const build = [
      'build',
      '-trimpath',
      '-ldflags=-s -w',
      '-o',
      file,
      'github.com/temporalio/cli/cmd/temporal',
    ];
    await timed(what, () => run('go', build, { cwd: path.join(root, 'scripts/temporal-cli') }));
  });
  return installed;
}
