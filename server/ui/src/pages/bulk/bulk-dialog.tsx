import { stringifyJson, type BulkPreview, type BulkRequest } from '@stepwright/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { PriorityChoice } from '../../components/priority-choice.js';
import { DialogForm } from '../../components/dialog-form.js';
import { useSettled } from '../../components/use-settled.js';
import { ProblemView } from '../../components/problem-view.js';
import { RunBadge } from '../../components/status-badge.js';
import type { RunQuery } from '../runs/run-filter.js';
import { runsText } from '../runs/use-run-count.js';
import { BULK_ACTION_NAMES, BULK_ACTIONS, type BulkAction } from './bulk-actions.js';
import { modificationOf, NO_REPAIR } from './bulk-repair.js';
import { RepairFields, useTopSteps } from './repair-fields.js';

/** The runs that were selected one by one, or all that match a filter. */
export type BulkSelection = { readonly ids: readonly string[] } | { readonly query: RunQuery };

interface BulkDialogProps {
  readonly selection: BulkSelection;
  readonly action: BulkAction;
  /** The step at which the runs failed, if known. A repair starts there by default. */
  readonly failedStepId?: string;
  readonly onStarted: (jobId: string) => void;
  readonly onClose: () => void;
}

const REASON_MAX = 500;
const PER_SECOND_MAX = 1000;

/** Shows the runs that the action would affect, asks for the reason, and creates the job. */
export function BulkDialog(props: BulkDialogProps): ReactNode {
  const { selection, onStarted, onClose } = props;
  const { client } = useSession();
  const [action, setAction] = useState(props.action);
  const [changed, setRepair] = useState(NO_REPAIR);
  const [reason, setReason] = useState('');
  const [perSecond, setPerSecond] = useState('');
  const [extra, setExtra] = useState({ compensate: false, priority: 1 });
  const [typed, setTyped] = useState('');
  const { label, text, isDangerous = false } = BULK_ACTIONS[action];
  const steps = useTopSteps('query' in selection ? (selection.query.definitionId ?? '') : '');
  const failedAt = steps.find((id) => id === props.failedStepId) ?? '';
  const repair = { ...changed, from: changed.from ?? failedAt };
  const modification = action === 'modify' ? modificationOf(repair) : undefined;
  const preview = useBulkPreview(selection, action, modification ?? null);
  const matched = preview.data?.matched;
  const isTyped = !isDangerous || typed.trim() === String(matched);
  const isValid = reason.trim() !== '' && isTyped && modification !== null && matched !== 0;
  const create = async (): Promise<void> => {
    const { id } = await client.bulk.create({
      ...requestOf(selection, action),
      reason: reason.trim(),
      ...(modification !== undefined && modification !== null && { modification }),
      ...(action === 'terminate' && { compensate: extra.compensate }),
      ...(action === 'priority' && { priority: extra.priority }),
      ...(perSecond !== '' && { perSecond: Number(perSecond) }),
    });
    onStarted(id);
  };
  return (
    <DialogForm
      title={`${label} ${preview.data === undefined ? 'runs' : matchText(preview.data)}?`}
      submit={label}
      isDangerous={isDangerous}
      isInvalid={!isValid}
      hint="The job runs on the server, even after you close this page. You can stop it."
      onSubmit={create}
      onClose={onClose}
    >
      <ActionChoice {...{ action }} onChange={setAction} />
      <p>{text}</p>
      {action === 'modify' && (
        <RepairFields
          {...{ repair, steps }}
          onChange={(change) => setRepair({ ...changed, ...change })}
        />
      )}
      <ExtraField {...{ action, extra }} onChange={setExtra} />
      {preview.error !== null && <ProblemView error={preview.error} />}
      {preview.data !== undefined && <Matches preview={preview.data} />}
      {preview.data !== undefined && <Obstacles preview={preview.data} />}
      <ReasonFields {...{ reason, perSecond }} onReason={setReason} onPerSecond={setPerSecond} />
      {isDangerous && matched !== undefined && (
        <TextField label={`Type ${matched} to confirm`} value={typed} onChange={setTyped} />
      )}
    </DialogForm>
  );
}

interface Extra {
  readonly compensate: boolean;
  readonly priority: number;
}

/** What some actions need in addition. */
function ExtraField({
  action,
  extra,
  onChange,
}: {
  readonly action: BulkAction;
  readonly extra: Extra;
  readonly onChange: (extra: Extra) => void;
}): ReactNode {
  if (action === 'terminate')
    return (
      <CompensateChoice
        isChosen={extra.compensate}
        onChange={(compensate) => onChange({ ...extra, compensate })}
      />
    );
  if (action !== 'priority') return null;
  return (
    <PriorityChoice
      label="New priority"
      value={extra.priority}
      onChange={(priority) => onChange({ ...extra, priority })}
    />
  );
}

function ActionChoice({
  action,
  onChange,
}: {
  readonly action: BulkAction;
  readonly onChange: (action: BulkAction) => void;
}): ReactNode {
  return (
    <label className="field">
      <span>Action</span>
      <select
        value={action}
        autoFocus
        onChange={({ target: { value } }) =>
          onChange(BULK_ACTION_NAMES.find((name) => name === value) ?? action)
        }
      >
        {BULK_ACTION_NAMES.map((name) => (
          <option key={name} value={name}>
            {BULK_ACTIONS[name].label}
          </option>
        ))}
      </select>
    </label>
  );
}

function CompensateChoice({
  isChosen,
  onChange,
}: {
  readonly isChosen: boolean;
  readonly onChange: (isChosen: boolean) => void;
}): ReactNode {
  return (
    <label className="dialog-checkbox">
      <input
        type="checkbox"
        checked={isChosen}
        onChange={({ target }) => onChange(target.checked)}
      />
      <span>Compensate completed steps first</span>
    </label>
  );
}

function ReasonFields({
  reason,
  perSecond,
  onReason,
  onPerSecond,
}: {
  readonly reason: string;
  readonly perSecond: string;
  readonly onReason: (reason: string) => void;
  readonly onPerSecond: (perSecond: string) => void;
}): ReactNode {
  return (
    <>
      <TextField
        label="Reason, for the history of each run (required)"
        value={reason}
        maxLength={REASON_MAX}
        onChange={onReason}
      />
      <RateField value={perSecond} onChange={onPerSecond} />
    </>
  );
}

function TextField({
  label,
  value,
  maxLength,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly maxLength?: number;
  readonly onChange: (value: string) => void;
}): ReactNode {
  return (
    <label className="field">
      <span>{label}</span>
      <input
        value={value}
        maxLength={maxLength}
        autoComplete="off"
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}

function RateField({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (value: string) => void;
}): ReactNode {
  return (
    <label className="field">
      <span>Runs per second, at most (default 50)</span>
      <input
        type="number"
        min={1}
        max={PER_SECOND_MAX}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}

function requestOf(selection: BulkSelection, action: BulkAction) {
  return 'ids' in selection
    ? { action, workflowIds: selection.ids }
    : { action, filter: selection.query };
}

/** The action doesn't affect which runs match, but a modification may be impossible for some of them. */
function useBulkPreview(
  selection: BulkSelection,
  action: BulkAction,
  modification: NonNullable<BulkRequest['modification']> | null,
) {
  const { client } = useSession();
  const key = JSON.stringify(selection);
  const settled = useSettled(modification === null ? null : stringifyJson(modification));
  return useQuery({
    queryKey: ['bulk preview', key, action === 'modify' ? settled : null],
    queryFn: ({ signal }) =>
      client.bulk.preview(
        {
          ...requestOf(selection, action),
          reason: 'preview',
          ...(action === 'priority' && { priority: 1 }),
          ...(action === 'modify' && { modification: modification ?? { resume: true } }),
        },
        { signal },
      ),
    gcTime: 0,
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  });
}

function matchText({ matched, exact }: BulkPreview): string {
  return runsText({ count: matched, exact });
}

const NAMED = 5;

/** The obstacles for the first runs. */
function Obstacles({ preview }: { readonly preview: BulkPreview }): ReactNode {
  const { obstacles, workflows } = preview;
  if (obstacles.length === 0) return null;
  return (
    <div role="status">
      <p className="form-message">
        {`Impossible for ${obstacles.length} of the first ${workflows.length}:`}
      </p>
      <ul className="bulk-matches">
        {obstacles.slice(0, NAMED).map(({ problem, workflowId }) => (
          <li key={workflowId}>
            <code>{workflowId}</code> <bdi>{problem.detail}</bdi>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Matches({ preview }: { readonly preview: BulkPreview }): ReactNode {
  const { workflows } = preview;
  if (preview.matched === 0) return <p className="form-message">No run matches.</p>;
  return (
    <div>
      <p className="quiet">{matchText(preview)}, the first of them:</p>
      <ul className="bulk-matches">
        {workflows.slice(0, NAMED).map((run) => (
          <li key={run.workflowId}>
            <bdi>{run.definitionId}</bdi> <bdi>{run.reference ?? run.workflowId}</bdi>{' '}
            <RunBadge run={run} reasons={undefined} />
          </li>
        ))}
      </ul>
    </div>
  );
}
