import path from 'node:path';

/** Of the packages, as in their imports. */
export const scope = '@interlude-ai';

const imports = new RegExp(`(['"])${scope}/(\\w+)/([\\w./-]+)\\1`, 'g');

/**
 * Where packages are copied beside each other, a module of another one has a relative address: `@interlude-ai/core/x.ts`
 * becomes `../../core/src/x.ts`. `file`: path of the module from the checkout's root.
 * @param {string} code @param {string} file
 */
export function withRelativeImports(code, file) {
  return code.replaceAll(imports, (_, quote, name, rest) => {
    const address = path.posix.relative(path.posix.dirname(file), `packages/${name}/src/${rest}`);
    return `${quote}${address}${quote}`;
  });
}
