import { fromGlobalSetup } from './setup/shared.ts';

/** The production workflow bundle, built once per run: `Worker.create({ workflowBundle: await workflowBundle(), … })`. */
export async function workflowBundle(): Promise<{ codePath: string }> {
  return { codePath: await fromGlobalSetup('/workflow-bundle') };
}
