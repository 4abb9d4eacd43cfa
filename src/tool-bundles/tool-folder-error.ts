/** Everything that is wrong with a folder of tools, each with its file and what to do about it. */
export class ToolFolderError extends Error {
  override name = 'ToolFolderError';
  readonly problems: readonly string[];

  constructor(folder: string, problems: readonly string[]) {
    super(
      [`The tools in ${folder} cannot be used:`, ...problems.map((problem) => `  ${problem}`)].join('\n'),
    );
    this.problems = problems;
  }
}

/** All that is wrong is what modules import: a workflow may not, code for Node may. */
export class RefusedImports extends ToolFolderError {}
