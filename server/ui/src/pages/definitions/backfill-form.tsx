import { useState, type ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { useZone } from '../../components/zone-choice.js';
import { DialogForm } from '../../components/dialog-form.js';
import { useToasts } from '../../components/toasts.js';
import { localTime, timeOf } from '../../data-form/local-time.js';

const DAY_MS = 86_400_000;
const HINT =
  'Starts a run for each due time in the period, at most 1,000, in order and by the overlap rule of the trigger. Due times that have already started a run and future due times are skipped.';

interface BackfillFormProps {
  readonly definitionId: string;
  readonly name: string;
  readonly onClose: () => void;
}

/** Starts the runs of a cron trigger for a period. */
export function BackfillForm({ definitionId, name, onClose }: BackfillFormProps): ReactNode {
  const { client } = useSession();
  const { say } = useToasts();
  const zone = useZone();
  const [from, setFrom] = useState(() => minuteText(Date.now() - DAY_MS));
  const [to, setTo] = useState(() => minuteText(Date.now()));
  const period = { from: timeOf(from), to: timeOf(to) };
  const problem = problemOf(period);
  const send = async (): Promise<void> => {
    const { length } = await client.triggers.backfill(definitionId, name, period);
    say(saidOf(name, length));
  };
  return (
    <DialogForm
      title={`Backfill ${name}`}
      submit="Start runs"
      isInvalid={problem !== null}
      hint={HINT}
      onSubmit={send}
      onClose={onClose}
    >
      <label className="field">
        <span>From (inclusive){zone === 'UTC' ? ' (UTC)' : ', in your time zone'}</span>
        <input
          type="datetime-local"
          step={1}
          value={from}
          onChange={({ target }) => setFrom(target.value)}
        />
      </label>
      <label className="field">
        <span>To (exclusive){zone === 'UTC' ? ' (UTC)' : ', in your time zone'}</span>
        <input
          type="datetime-local"
          step={1}
          value={to}
          onChange={({ target }) => setTo(target.value)}
        />
      </label>
      <p className="form-problem" role="status">
        {problem}
      </p>
    </DialogForm>
  );
}

function minuteText(ms: number): string {
  return localTime(new Date(ms - (ms % 60_000)).toISOString()) ?? '';
}

function problemOf({ from, to }: { readonly from: string; readonly to: string }): string | null {
  if (from === '' || to === '') return 'Enter both times.';
  return from < to ? null : 'The second time must be after the first.';
}

function saidOf(name: string, count: number): string {
  if (count === 0) return `${name} has no due times in this period.`;
  return `${name} starts the runs of ${count.toLocaleString('en')} due ${count === 1 ? 'time' : 'times'}.`;
}
