import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { Menu } from '../../components/menu.js';
import { saveFile } from '../../components/save-file.js';
import { useToasts } from '../../components/toasts.js';
import { EXPORT_MAX, exportText, readRuns, type ExportFormat } from './list-export.js';
import type { RunQuery } from './run-filter.js';

/** The maximum of the API. */
const PAGE_SIZE = 500;
const TYPES = { csv: 'text/csv', json: 'application/json' } as const;

interface ExportMenuProps {
  readonly queryNow: () => RunQuery;
  /** The chosen columns of index fields and tags. */
  readonly fields: readonly string[];
}

/** Saves all runs that match the filter as a file. */
export function ExportMenu({ queryNow, fields }: ExportMenuProps): ReactNode {
  const { client, noticeFailure } = useSession();
  const { say, notifyError } = useToasts();
  const [count, setCount] = useState<number | null>(null);
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);
  const save = async (format: ExportFormat): Promise<void> => {
    const controller = new AbortController();
    running.current = controller;
    const { signal } = controller;
    const list = client.workflows.list({ ...queryNow(), limit: PAGE_SIZE, signal });
    setCount(0);
    try {
      const { runs, isComplete } = await readRuns(list.pages(), setCount);
      saveFile(`runs.${format}`, TYPES[format], exportText(runs, format, fields));
      const number = runs.length.toLocaleString('en');
      say(isComplete ? `Exported ${number} runs.` : `Exported the first ${number} runs only.`);
    } catch (error) {
      if (signal.aborted) return;
      noticeFailure(error);
      notifyError('Export failed', error);
    } finally {
      if (!signal.aborted) setCount(null);
    }
  };
  if (count !== null) {
    const cancel = (): void => {
      running.current?.abort();
      setCount(null);
    };
    return (
      <span className="list-export">
        <span role="status">Read {count.toLocaleString('en')} runs …</span>
        <Button isSmall onPress={cancel}>
          Cancel the export
        </Button>
      </span>
    );
  }
  return (
    <Menu label="Export list">
      <Button onPress={() => void save('csv')}>CSV: the main and the chosen columns</Button>
      <Button onPress={() => void save('json')}>JSON: everything in the list</Button>
      <p className="hint">At most {EXPORT_MAX.toLocaleString('en')} runs.</p>
    </Menu>
  );
}
