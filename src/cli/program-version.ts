/** The version of this program: that of the package it stands in, in a checkout as well as where it is installed. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

export function programVersion(): string {
  for (let folder = import.meta.dirname; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const file = path.join(folder, 'package.json');
    if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  }
  return '0.0.0';
}
