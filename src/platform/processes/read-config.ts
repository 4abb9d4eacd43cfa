/** Reads the settings of this process. Apart from commands at a terminal, only this file reads `process.env`. */
import { ConfigError } from '@interlude-ai/core/config-error.ts';
import type { Config } from '../config/config.ts';
import { needsOf } from '../config/environment.ts';
import type { ProcessKind } from '../config/environment.ts';
import { loadConfig, loadDatabase } from '../config/load-config.ts';
import { issuerProblem } from '../network/openid-issuer.ts';

/**
 * The configuration of a command. Throws a `ConfigError` with every problem. `agentsFile` overrides the configured one.
 */
export function readConfig(agentsFile?: string): Config {
  const env = { ...process.env, ...(agentsFile !== undefined && { INTERLUDE_CONFIG: agentsFile }) };
  return loadConfig(env, process.cwd());
}

/** The database alone, for a job without an agents file. */
export function readDatabase(): Config['database'] {
  return loadDatabase(process.env, process.cwd());
}

/** The configuration of a process. Where users sign in, it also checks that the issuer answers. */
export async function readProcessConfig(kind: ProcessKind): Promise<Config> {
  const config = configOrError(kind);
  const issuer = (config instanceof ConfigError ? process.env['AUTH_ISSUER'] : config.auth?.issuer) ?? '';
  const problems = config instanceof ConfigError ? config.problems : [];
  const isAsked =
    kind !== 'worker' &&
    URL.canParse(issuer) &&
    !problems.some((problem) => problem.startsWith('AUTH_ISSUER: '));
  const trouble = isAsked ? await issuerProblem(issuer) : null;
  if (trouble !== null) throw new ConfigError([...problems, `AUTH_ISSUER: ${trouble}`], config.warnings);
  if (config instanceof ConfigError) throw config;
  return config;
}

function configOrError(kind: ProcessKind): Config | ConfigError {
  try {
    return loadConfig(process.env, process.cwd(), needsOf[kind]);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}
