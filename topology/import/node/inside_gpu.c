/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inside_gpu.c - GPUs by their PCI identity */
#include "topology/import/node/inside.h"

#define NVIDIA 0x10de
#define AMD    0x1002
#define HABANA 0x1da3

static const struct {
	unsigned vendor, device;
	const char *name;
} gpus[] = {
	{NVIDIA, 0x15f8, "p100"},   {NVIDIA, 0x15f9, "p100"},
	{NVIDIA, 0x1db0, "v100"},   {NVIDIA, 0x1db1, "v100"},
	{NVIDIA, 0x1db3, "v100"},   {NVIDIA, 0x1db4, "v100"},
	{NVIDIA, 0x1db5, "v100"},   {NVIDIA, 0x1db6, "v100"},
	{NVIDIA, 0x1db8, "v100"},   {NVIDIA, 0x1df6, "v100s"},
	{NVIDIA, 0x1eb8, "t4"},	    {NVIDIA, 0x20b0, "a100"},
	{NVIDIA, 0x20b1, "a100"},   {NVIDIA, 0x20b2, "a100"},
	{NVIDIA, 0x20b3, "a100"},   {NVIDIA, 0x20b5, "a100"},
	{NVIDIA, 0x20b7, "a30"},    {NVIDIA, 0x20f1, "a100"},
	{NVIDIA, 0x20f3, "a800"},   {NVIDIA, 0x2230, "a6000"},
	{NVIDIA, 0x2235, "a40"},    {NVIDIA, 0x2236, "a10"},
	{NVIDIA, 0x2237, "a10g"},   {NVIDIA, 0x2321, "h100"},
	{NVIDIA, 0x2324, "h800"},   {NVIDIA, 0x2329, "h20"},
	{NVIDIA, 0x2330, "h100"},   {NVIDIA, 0x2331, "h100"},
	{NVIDIA, 0x2335, "h200"},   {NVIDIA, 0x2336, "h100"},
	{NVIDIA, 0x2339, "h100"},   {NVIDIA, 0x233b, "h200"},
	{NVIDIA, 0x2342, "gh200"},  {NVIDIA, 0x2345, "gh200"},
	{NVIDIA, 0x24b0, "a4000"},  {NVIDIA, 0x2684, "rtx4090"},
	{NVIDIA, 0x26b5, "l40"},    {NVIDIA, 0x26b9, "l40s"},
	{NVIDIA, 0x26ba, "l20"},    {NVIDIA, 0x27b8, "l4"},
	{NVIDIA, 0x2901, "b200"},   {NVIDIA, 0x2941, "gb200"},
	{NVIDIA, 0x3182, "b300"},   {NVIDIA, 0x31c2, "gb300"},
	{AMD, 0x66a0, "mi50"},	    {AMD, 0x66a1, "mi50"},
	{AMD, 0x7388, "mi100"},	    {AMD, 0x738c, "mi100"},
	{AMD, 0x7408, "mi250x"},    {AMD, 0x740c, "mi250x"},
	{AMD, 0x740f, "mi210"},	    {AMD, 0x74a0, "mi300a"},
	{AMD, 0x74a1, "mi300x"},    {AMD, 0x74a5, "mi325x"},
	{AMD, 0x74b5, "mi300x"},    {AMD, 0x75a0, "mi350x"},
	{AMD, 0x75a3, "mi355x"},    {HABANA, 0x1020, "gaudi2"},
	{HABANA, 0x1060, "gaudi3"},
};

const char *weft_inside_gpu_name(unsigned vendor, unsigned device)
{
	for (size_t i = 0; i < WEFT_N_OF(gpus); i++)
		if (gpus[i].vendor == vendor && gpus[i].device == device)
			return gpus[i].name;
	return NULL;
}

const char *weft_inside_gpu_by_sm(unsigned sm)
{
	/* Only where an architecture is one GPU of data centres. */
	static const struct {
		unsigned sm;
		const char *name;
	} known[] = {
		{60, "p100"}, {70, "v100"},  {75, "t4"},    {80, "a100"},
		{90, "h100"}, {100, "b200"}, {103, "b300"},
	};

	for (size_t i = 0; i < WEFT_N_OF(known); i++)
		if (known[i].sm == sm)
			return known[i].name;
	return NULL;
}

bool weft_inside_is_gpu(unsigned pci_class, unsigned vendor)
{
	bool maker = vendor == 0 || vendor == NVIDIA || vendor == AMD ||
		     vendor == HABANA;

	if (!maker)
		return false;
	/* VGA, 3D and other displays; AMD's and Habana's are accelerators. */
	return pci_class >> 8 == 0x0302 || pci_class >> 8 == 0x0380 ||
	       pci_class >> 8 == 0x1200 ||
	       (pci_class >> 8 == 0x0300 && vendor != 0);
}
