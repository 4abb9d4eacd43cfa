/** Thrown once for everything that is wrong: each problem names the setting and the remedy. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly problems: string[];
  /** Shown together, because a warning may explain a problem. */
  readonly warnings: string[];

  constructor(problems: string[], warnings: string[] = []) {
    const lines = [...problems, ...warnings].map((line) => `  • ${line}`);
    super(
      `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${lines.join('\n')}`,
    );
    this.problems = problems;
    this.warnings = warnings;
  }
}
