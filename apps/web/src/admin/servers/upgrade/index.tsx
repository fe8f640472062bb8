import { UpgradeDialog } from './dialog.tsx'
import { UpgradePanel } from './panel.tsx'

/** Above the list of servers: the upgrade that goes on or was the last one, and the dialog that begins one. */
export function Upgrades() {
  return (
    <>
      <UpgradePanel />
      <UpgradeDialog />
    </>
  )
}
