/** The time-skipping test server, for the tests only: the SDK's native build, else the same server on the JVM. */
import { copyFileSync } from 'node:fs';
import path from 'node:path';
import { downloadWithSdk } from './sdk-download.mjs';
import { installInto, onPath, run, SetupError, timed } from './steps.mjs';
import { cacheFolder, pinnedVersion, rememberTools, root } from './tools.mjs';

const executable = process.platform === 'win32' ? 'temporal-test-server.exe' : 'temporal-test-server';
const version = pinnedVersion(
  'temporal-test-server/pom.xml',
  /<artifactId>temporal-test-server<\/artifactId>\s*<version>([\d.]+\d)</,
);

export async function installTemporalTestServer() {
  const folder = path.join(cacheFolder, `temporal-test-server-${version}`);
  await installInto(folder, async (draft) => {
    const file = path.join(draft, executable);
    if (await downloadWithSdk('time-skipping', version, file)) return;
    for (const tool of ['java', 'mvn']) {
      if (onPath(tool)) continue;
      throw new SetupError(
        `The time-skipping test server ${version} could not be downloaded, and there is no ${tool} for the other way. ` +
          'Install Java 11 or newer and Maven (Debian: apt-get install openjdk-17-jdk-headless maven) and run the command again. ' +
          'Only the tests need it; npm start works without.',
      );
    }
    const source = path.join(root, 'scripts/temporal-test-server');
    const copy = [
      '-B',
      '-q',
      '-f',
      path.join(source, 'pom.xml'),
      'dependency:copy-dependencies',
      '-DincludeScope=runtime',
    ];
    await timed(`fetching the time-skipping test server ${version} with Maven (once)`, () =>
      run('mvn', [...copy, `-DoutputDirectory=${path.join(draft, 'lib')}`]),
    );
    copyFileSync(path.join(source, 'start.sh'), file);
  });
  rememberTools({ timeSkipping: path.join(folder, executable) });
}
