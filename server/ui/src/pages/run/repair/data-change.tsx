import { stringifyJson, type Workflow } from '@stepwright/sdk';
import { useMemo, useState, type ReactNode } from 'react';
import { Button } from '../../../components/button.js';
import { LazyCodeEditor } from '../../../editor/lazy-code-editor.js';
import type { RepairPlan } from './repair-plan.js';

interface DataChangeProps {
  readonly run: Workflow;
  readonly plan: RepairPlan;
  readonly set: (change: Partial<RepairPlan>) => void;
}

/** The run's data in an editor that marks the user's changes. */
export function DataChange({ run, plan, set }: DataChangeProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const original = useMemo(() => stringifyJson(run.data, 2), [run.data]);
  return (
    <details className="repair-part" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Edit the data{plan.dataText !== null && ' (changed)'}</summary>
      {isOpen && (
        <>
          <LazyCodeEditor
            label="Data of the run as JSON"
            language="json"
            value={plan.dataText ?? original}
            original={original}
            onChange={(text) => set({ dataText: text === original ? null : text })}
          />
          <p className="hint">
            Only what you change is sent, so that other changes to the data are kept.{' '}
            {plan.dataText !== null && (
              <Button isSmall variant="quiet" onPress={() => set({ dataText: null })}>
                Undo all changes
              </Button>
            )}
          </p>
        </>
      )}
    </details>
  );
}
