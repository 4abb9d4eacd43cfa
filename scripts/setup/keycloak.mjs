/** Keycloak's distribution, for `examples/keycloak` only. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { installInto, onPath, run, SetupError, timed } from './steps.mjs';
import { cacheFolder } from './tools.mjs';

const version = '26.7.3';

/** Resolves to the folder with `bin/kc.sh`. */
export async function installKeycloak() {
  const folder = path.join(cacheFolder, `keycloak-${version}`);
  if (existsSync(folder)) return folder;
  for (const tool of ['java', 'mvn', 'tar']) {
    if (onPath(tool)) continue;
    throw new SetupError(
      `Keycloak needs ${tool}. Install Java 17 or newer and Maven (Debian: apt-get install openjdk-17-jdk-headless maven), then run the command again.`,
    );
  }
  await installInto(folder, async (draft) => {
    const artifact = `-Dartifact=org.keycloak:keycloak-quarkus-dist:${version}:tar.gz`;
    await timed(`fetching Keycloak ${version} with Maven (once, 180 MB)`, () =>
      run('mvn', ['-B', '-q', 'dependency:copy', artifact, `-DoutputDirectory=${draft}`], { cwd: draft }),
    );
    const archive = path.join(draft, `keycloak-quarkus-dist-${version}.tar.gz`);
    await run('tar', ['-xf', archive, '--strip-components=1', '-C', draft]);
    await run('rm', [archive]);
  });
  return folder;
}
