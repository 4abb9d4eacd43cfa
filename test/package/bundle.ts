import { rolldown } from 'rolldown';

export interface Bundle {
  code: string;
  /** What went into it. */
  modules: string[];
}

/** One file for browsers, as small as it gets. */
export async function bundle(entry: string): Promise<Bundle> {
  const build = await rolldown({ input: entry, platform: 'browser' });
  const { output } = await build.generate({ format: 'esm', minify: true });
  await build.close();
  const [{ code, modules }, ...others] = output;
  if (others.length > 0)
    throw new Error(`More than one file: ${others.map(({ fileName }) => fileName).join(', ')}`);
  return { code, modules: Object.keys(modules) };
}
