import { UpgradeDialog } from './dialog.tsx'
import { UpgradePanel } from './panel.tsx'

/** Above the list of servers: the current or last upgrade, and the dialog that starts one. */
export function Upgrades() {
  return (
    <>
      <UpgradePanel />
      <UpgradeDialog />
    </>
  )
}
