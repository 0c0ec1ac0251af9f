import type { ReactNode } from 'react';

interface VersionChoiceProps {
  readonly version: number;
  readonly latestVersion: number;
  readonly onChoose: (version: number) => void;
  readonly label?: string;
}

export function VersionChoice(props: VersionChoiceProps): ReactNode {
  const { version, latestVersion, onChoose, label = 'Version' } = props;
  return (
    <label className="inline-field">
      <span>{label}</span>
      <input
        type="number"
        min={1}
        max={latestVersion}
        value={version}
        onChange={({ target }) => {
          if (target.validity.valid && target.value !== '') onChoose(target.valueAsNumber);
        }}
      />
      <span className="hint">of {latestVersion}</span>
    </label>
  );
}

/** The version in the address; the latest if there is none, or none that exists. */
export function wantedVersion(text: string | null, latest: number): number {
  const version = Number(text);
  return Number.isInteger(version) && version >= 1 && version <= latest ? version : latest;
}
