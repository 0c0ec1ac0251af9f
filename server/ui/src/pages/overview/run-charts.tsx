/** Runs started and ended in the last hour or day, and their durations. */
import type { OverviewBucket } from '@stepwright/sdk';
import type { ReactNode } from 'react';
import { durationText, TimeAgo } from '../../components/time-ago.js';
import { BarChart } from './bar-chart.js';

type Counted = 'started' | 'succeeded' | 'failed' | 'stopped';

export function RunCharts({
  period,
  buckets,
  countedSince,
}: {
  /** As in "the last hour". */
  readonly period: 'hour' | 'day';
  readonly buckets: readonly OverviewBucket[];
  /** Null: the counts cover the whole period. */
  readonly countedSince: string | null;
}): ReactNode {
  const valuesOf = (name: Counted): number[] => buckets.map((bucket) => bucket[name]);
  const totalOf = (name: Counted): number => valuesOf(name).reduce((sum, value) => sum + value, 0);
  const [started, succeeded, failed, stopped] = [
    totalOf('started'),
    totalOf('succeeded'),
    totalOf('failed'),
    totalOf('stopped'),
  ];
  const unit = period === 'hour' ? 'minute' : 'hour';
  return (
    <section className="overview-period" aria-labelledby={`last-${period}`}>
      <h2 id={`last-${period}`}>Last {period}</h2>
      {countedSince !== null && (
        <p className="hint">
          Only since the first node started, <TimeAgo time={countedSince} />
        </p>
      )}
      <div className="overview-charts">
        <Figure title="Started" text={numberText(started)}>
          <BarChart
            description={`Runs started in the last ${period}, by ${unit}: ${started}, at most ${most(valuesOf('started'))} in one ${unit}`}
            series={[{ label: 'started', tone: 'started', values: valuesOf('started') }]}
          />
        </Figure>
        <Figure
          title="Ended"
          text={`${numberText(succeeded)} succeeded, ${numberText(failed)} failed, ${numberText(stopped)} compensated or terminated`}
        >
          <BarChart
            description={`Runs ended in the last ${period}, by ${unit}: ${succeeded} succeeded, ${failed} failed, ${stopped} compensated or terminated`}
            series={[
              { label: 'succeeded', tone: 'good', values: valuesOf('succeeded') },
              { label: 'failed', tone: 'bad', values: valuesOf('failed') },
              { label: 'stopped', tone: 'idle', values: valuesOf('stopped') },
            ]}
          />
        </Figure>
        <Durations period={period} unit={unit} buckets={buckets} />
      </div>
    </section>
  );
}

function Durations({
  period,
  unit,
  buckets,
}: {
  readonly period: string;
  readonly unit: string;
  readonly buckets: readonly OverviewBucket[];
}): ReactNode {
  const durations = durationsOf(buckets);
  const text =
    durations === null
      ? 'no run ended'
      : `${durationText(durations.meanMs)} on average, ${durationText(durations.longestMs)} at most`;
  return (
    <Figure title="Duration" text={text}>
      <BarChart
        description={`Mean duration of the runs that ended in the last ${period}, by ${unit}: ${text}`}
        series={[
          { label: 'duration', tone: 'idle', values: buckets.map(({ meanMs }) => meanMs ?? 0) },
        ]}
      />
    </Figure>
  );
}

function Figure({
  title,
  text,
  children,
}: {
  readonly title: string;
  readonly text: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div className="overview-figure">
      <h3>{title}</h3>
      <p>{text}</p>
      {children}
    </div>
  );
}

function durationsOf(buckets: readonly OverviewBucket[]) {
  const ended = buckets.filter(({ meanMs }) => meanMs !== null);
  const counts = ended.map(({ succeeded, failed, stopped }) => succeeded + failed + stopped);
  const count = counts.reduce((sum, each) => sum + each, 0);
  if (count === 0) return null;
  const totalMs = ended.reduce((sum, { meanMs }, n) => sum + (meanMs ?? 0) * (counts[n] ?? 0), 0);
  const longestMs = Math.max(...ended.map((bucket) => bucket.longestMs ?? 0));
  return { meanMs: totalMs / count, longestMs };
}

function most(values: readonly number[]): number {
  return Math.max(0, ...values);
}

function numberText(value: number): string {
  return value.toLocaleString('en');
}
