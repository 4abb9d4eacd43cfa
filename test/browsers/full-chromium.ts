/**
 * A Chromium as people have it, without a window: the machine's own (CHROMIUM_PATH, or on the PATH), else Debian's. Other
 * than the small one of most tests, it has a popup blocker, and keeps pages aside that somebody may come back to.
 */
import { chromium } from 'playwright-core';
import { names, storageApart } from './chromium.ts';
import { findProgram } from '../programs/find-program.ts';
import type { Program } from '../programs/find-program.ts';
import { launchFound } from './launch.ts';
import type { Launched } from './launch.ts';

const program: Program = {
  given: 'CHROMIUM_PATH',
  names,
  package: 'chromium',
  executable: 'usr/lib/chromium/chromium',
};

export async function launchFullChromium(): Promise<Launched> {
  return launchFound(await findProgram(program), ({ executable, env }) =>
    chromium.launch({
      executablePath: executable,
      env: { ...process.env, ...env },
      ignoreDefaultArgs: ['--disable-popup-blocking', '--disable-back-forward-cache'],
      args: ['--headless=new', ...storageApart],
    }),
  );
}
