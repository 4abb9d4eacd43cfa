/**
 * Lets the SDK download one of its servers into a folder: `node download.mjs temporal|time-skipping <version> <folder>`.
 * A script of its own because the SDK needs the installed packages and the new Node, and the set-up has neither yet
 * when it starts. The SDK downloads when it starts a server, so one is started for a moment.
 */
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [, , kind, version = '', downloadDir = ''] = process.argv;
const executable = { type: /** @type {const} */ ('cached-download'), version: `v${version}`, downloadDir };
const environment =
  kind === 'temporal'
    ? await TestWorkflowEnvironment.createLocal({ server: { executable } })
    : await TestWorkflowEnvironment.createTimeSkipping({ server: { executable } });
await environment.teardown();
