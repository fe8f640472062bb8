import Palette from '../palette/palette.tsx'
import { Preload } from './preload.ts'

/** Parts that an administrator has on every page. */
export default function Console() {
  return (
    <>
      <Palette />
      <Preload />
    </>
  )
}
