/** The file operations of an archive, so that a test can interrupt them at any point. */
import { open, rename, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PRIVATE_FILE } from '../../base/private-files.js';

export interface OpenFile {
  size(): Promise<number>;
  /** Writes all bytes at the position. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  truncate(size: number): Promise<void>;
  /** Resolves when all writes are on disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface ArchiveFiles {
  /** Null: there is no such file. */
  open(path: string): Promise<OpenFile | null>;
  /** Creates a file with this content, all or nothing. The directory must exist. */
  create(path: string, content: Uint8Array): Promise<void>;
}

export const ARCHIVE_FILES: ArchiveFiles = {
  async open(path) {
    const handle = await open(path, 'r+').catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    });
    return handle === null ? null : openFile(handle);
  },

  async create(path, content) {
    const temporary = `${path}.new`;
    const handle = await open(temporary, 'w', PRIVATE_FILE);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
    await syncDirectory(dirname(path));
  },
};

function openFile(handle: FileHandle): OpenFile {
  return {
    size: async () => (await handle.stat()).size,
    write: async (bytes, position) => {
      for (let done = 0; done < bytes.length;) {
        const length = bytes.length - done;
        done += (await handle.write(bytes, done, length, position + done)).bytesWritten;
      }
    },
    truncate: (size) => handle.truncate(size),
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}

/** Resolves when new names in the directory survive a power failure. */
async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open directories.
  if (process.platform === 'win32') return;
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
