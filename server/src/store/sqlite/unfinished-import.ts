/** The file that holds part of a copy of another store. It takes the place of the store's file when it is complete. */
import { existsSync } from 'node:fs';

export function importFileOf(file: string): string {
  return `${file}.import`;
}

/** @throws Error, so that no server runs beside part of a copy */
export function refuseUnfinishedImport(file: string): void {
  const importFile = importFileOf(file);
  if (!existsSync(importFile)) return;
  throw new Error(
    `${importFile} is an unfinished copy of another store: run migrate-store again, or delete it`,
  );
}
