import type { ProvisioningStep } from '@netlet/contract'

/**
 * Which steps may follow each one. Any step may fail, which ends the provisioning; a new request begins again at
 * 'waiting'. If the management API cannot be reached, the ranges go over SSH: 'ranges', 'connect', 'ranges'.
 */
export const NEXT_STEPS: Readonly<Record<ProvisioningStep, readonly ProvisioningStep[]>> = {
  waiting: ['connect', 'ranges'],
  connect: ['examine', 'ranges'],
  // A change of settings alone leaves the program as it is.
  examine: ['upload', 'configure'],
  upload: ['configure'],
  configure: ['start'],
  start: ['wait'],
  wait: ['ranges'],
  ranges: ['connect', 'check', 'done'],
  // If no ranges could be loaded, what runs is tried with those that it has. It then ends at 'ranges'.
  check: ['ranges', 'done'],
  done: []
}
