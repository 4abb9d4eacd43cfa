import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { build as esbuild } from 'esbuild';
import { rolldown } from 'rolldown';
import { build as vite } from 'vite';
import webpack from 'webpack';

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

/** One file for a page by each of them, from an entry. A warning is an error. */
export const bundlers: Record<string, (entry: string) => Promise<string>> = {
  async esbuild(entry) {
    const common = { platform: 'browser', format: 'esm', bundle: true, write: false } as const;
    const { outputFiles, warnings } = await esbuild({ entryPoints: [entry], logLevel: 'silent', ...common });
    if (warnings.length > 0) throw new Error(JSON.stringify(warnings));
    return outputFiles.map(({ text }) => text).join('');
  },
  async vite(entry) {
    const built = await vite({
      root: path.dirname(entry),
      configFile: false,
      logLevel: 'silent',
      build: { write: false, lib: { entry, formats: ['es'] }, rolldownOptions: { onwarn: refuse } },
      define: { 'process.env.NODE_ENV': '"production"' },
    });
    const [output] = Array.isArray(built) ? built : [built];
    if (!output || !('output' in output)) throw new Error('Vite wrote nothing.');
    return output.output.map((file) => ('code' in file ? file.code : '')).join('');
  },
  async webpack(entry) {
    const folder = path.join(path.dirname(entry), 'by-webpack');
    const stats = await new Promise<webpack.Stats | undefined>((resolve, reject) => {
      const done = (error: Error | null, found?: webpack.Stats) => (error ? reject(error) : resolve(found));
      webpack(
        {
          mode: 'production',
          entry,
          output: { path: folder, filename: 'all.mjs' },
          optimization: { minimize: false },
          performance: false,
        },
        done,
      );
    });
    const { errors, warnings } = stats?.toJson({ errors: true, warnings: true }) ?? {};
    if (errors?.length || warnings?.length) throw new Error(JSON.stringify([errors, warnings]));
    return readFile(path.join(folder, 'all.mjs'), 'utf8');
  },
};

function refuse({ code, message }: { code?: string; message: string }): void {
  // React's directive, for servers that render components; on a page it means nothing.
  if (code !== 'MODULE_LEVEL_DIRECTIVE') throw new Error(message);
}
