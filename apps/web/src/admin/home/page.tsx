import '../kit/styles.ts'
import { DeliveriesPanel } from './deliveries.tsx'
import { EndingsPanel } from './endings.tsx'
import classes from './home.module.css'
import { AttentionPanel } from './attention.tsx'
import { SalesPanel } from './sales.tsx'
import { SetupPanel } from './setup.tsx'
import { StockPanel } from './stock-map.tsx'

/** The operator's start page: what needs attention, and how the shop is doing. */
export default function HomePage() {
  return (
    <div className={classes.page}>
      <SetupPanel />
      <AttentionPanel />
      <SalesPanel />
      <EndingsPanel />
      <DeliveriesPanel />
      <StockPanel />
    </div>
  )
}
