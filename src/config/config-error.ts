/** Thrown once for all that is wrong: each problem names the setting and what to do about it. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly problems: string[];
  /** Shown beside them, because they may say why something is missing. */
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
