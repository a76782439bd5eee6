import { pageView } from "../components/page.js";
export const title = "Overview";
export function render() {
  return pageView({ title: "Overview" });
}
