/** Watches the files that agents are made of: agents files, tools and scripts, below the folder of the agents file. */
import { globSync, watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import path from 'node:path';

const isSource = /^[^.].*\.(?:ya?ml|json|[cm]?[jt]s)$/;
/** Editors write a file in several steps. */
const pauseMs = 30;

export function watchSources(folder: string, onChange: () => void): Pick<FSWatcher, 'close'> {
  let timer: NodeJS.Timeout | undefined;
  let watchers: FSWatcher[] = [];

  /** Folder by folder: Node's recursive watch loses a file on Linux once an editor has replaced it. */
  function look(): void {
    for (const watcher of watchers) watcher.close();
    watchers = [folder, ...foldersIn(folder)].map((at) =>
      watch(at, (event, file) => {
        // A new folder is an event of the folder around it.
        if (event === 'change' && file !== null && !isSource.test(file)) return;
        clearTimeout(timer);
        timer = setTimeout(() => {
          look();
          onChange();
        }, pauseMs);
      }),
    );
  }

  look();
  return {
    close() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}

/** Folders whose names begin with a dot have data and caches. */
function foldersIn(folder: string): string[] {
  const exclude = ({ name }: { name: string }) => name.startsWith('.') || name === 'node_modules';
  return globSync('**', { cwd: folder, exclude, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => path.join(parentPath, name));
}
