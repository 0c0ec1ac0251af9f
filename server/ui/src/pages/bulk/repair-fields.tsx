import { useMemo, type ReactNode } from 'react';
import { JsonField } from '../../components/json-field.js';
import { useLatestDefinition } from '../definitions/use-definition.js';
import { stepMapOf, type BulkRepair } from './bulk-repair.js';

/** The fields of a bulk repair. */
export function RepairFields({
  repair,
  steps,
  onChange,
}: {
  readonly repair: BulkRepair;
  /** Empty if the runs may have several definitions. */
  readonly steps: readonly string[];
  readonly onChange: (change: Partial<BulkRepair>) => void;
}): ReactNode {
  return (
    <>
      <label className="field">
        <span>Cancel all open steps, and start at this step</span>
        {steps.length > 0 ? (
          <select
            value={repair.from ?? ''}
            onChange={({ target }) => onChange({ from: target.value })}
          >
            <option value="">(keep the open steps)</option>
            {steps.map((id) => (
              <option key={id}>{id}</option>
            ))}
          </select>
        ) : (
          <input
            value={repair.from ?? ''}
            spellCheck={false}
            placeholder="id of a step; empty: keep the open steps"
            onChange={({ target }) => onChange({ from: target.value })}
          />
        )}
      </label>
      <JsonField
        label="Change of the data (JSON merge patch; null removes a member)"
        value={repair.dataText}
        onChange={(dataText) => onChange({ dataText })}
      />
      <label className="field">
        <span>Continue in version (empty: the version of each run)</span>
        <input
          type="number"
          min={1}
          value={repair.version}
          onChange={({ target }) => onChange({ version: target.value })}
        />
      </label>
      {repair.version !== '' && (
        <RenamedField value={repair.renamed} onChange={(renamed) => onChange({ renamed })} />
      )}
    </>
  );
}

/** Marked while it cannot be read. */
function RenamedField({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (value: string) => void;
}): ReactNode {
  return (
    <label className="field">
      <span>Open steps with another name there, as old=new</span>
      <input
        value={value}
        spellCheck={false}
        autoComplete="off"
        aria-invalid={stepMapOf(value) === null}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}

/** The ids of the steps outside containers, in the latest version; empty for no definition, and until they are known. */
export function useTopSteps(definitionId: string): readonly string[] {
  const definition = useLatestDefinition(definitionId).data;
  return useMemo(() => (definition?.steps ?? []).map(({ id }) => id), [definition]);
}
