/** A test's fleet, ledger and random numbers, cleaned up in every case. */
import { Fleet, type FleetOptions } from './fleet.js';
import { Ledger } from '../../../server/test/support/ledger.js';
import { runSeed, seeded, type Random } from './random.js';

export interface Scene {
  readonly fleet: Fleet;
  readonly ledger: Ledger;
  readonly random: Random;
}

export async function withFleet(
  options: FleetOptions,
  play: (scene: Scene) => Promise<void>,
): Promise<void> {
  const random = seeded(runSeed());
  const ledger = await Ledger.start();
  try {
    const fleet = await Fleet.start(options);
    try {
      await play({ fleet, ledger, random });
    } finally {
      await fleet.stop();
    }
  } finally {
    await ledger.stop();
  }
}
