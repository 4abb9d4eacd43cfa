/** Thrown once for all that is wrong: each problem names the setting and what to do about it. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly problems: string[];
  constructor(problems: string[]) {
    super(
      `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${problems.map((line) => `  • ${line}`).join('\n')}`,
    );
    this.problems = problems;
  }
}
